import { EverstepError } from "../../model/error.ts";
import type { CommitOutcome, Mutations } from "../../store/index.ts";

/** What a mutation writes through: rows of the author's own, by key. Nothing is kept unless the step is. */
export interface AuthorRowsHandle {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  delete(key: string): void;
  /** Like `set`, for a key that must not be there yet. */
  insert(key: string, value: unknown): void;
}

export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
}

/** Runs the author's writes; undefined when they stand, else why nothing may be applied. */
export function runMutations(
  rows: Map<string, unknown>,
  { serviceCalls, mutate }: Mutations,
): (CommitOutcome & { kind: "mutation-failed" }) | undefined {
  const draft: Draft = new Map();
  const db = handleOn(rows, draft);
  try {
    for (const mutation of [...serviceCalls, ...mutate]) requireSynchronous(mutation(db));
  } catch (error) {
    return { kind: "mutation-failed", conflict: error instanceof UniqueViolation, error };
  }
  for (const [key, row] of draft) {
    if (row === null) rows.delete(key);
    else rows.set(key, row.value);
  }
  return undefined;
}

/** Rows as they will be, null for one that will be gone. Dropping it takes every write back. */
type Draft = Map<string, { readonly value: unknown } | null>;

function handleOn(rows: Map<string, unknown>, draft: Draft): AuthorRowsHandle {
  const has = (key: string): boolean => (draft.has(key) ? draft.get(key) !== null : rows.has(key));
  const read = (key: string): unknown => (draft.has(key) ? draft.get(key)?.value : rows.get(key));
  const write = (key: string, value: unknown): void => {
    draft.set(key, { value: structuredClone(value) });
  };
  return {
    get: (key) => structuredClone(read(key)),
    set: write,
    delete: (key) => void draft.set(key, null),
    insert(key, value) {
      if (has(key)) throw new UniqueViolation(`A row with the key "${key}" is already there.`);
      write(key, value);
    },
  };
}

/** The transaction ends when the callback returns, so what a promise would still write could not be part of it. */
function requireSynchronous(returned: unknown): void {
  if (typeof (returned as PromiseLike<unknown> | null | undefined)?.then !== "function") return;
  Promise.resolve(returned).catch(() => {});
  throw new EverstepError(
    "MUTATION_INVALID",
    "A mutation returned a promise. In this store it must be synchronous: write through the handle and return.",
  );
}
