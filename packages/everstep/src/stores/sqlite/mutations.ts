/** Runs authors' writes inside the commit's transaction. Whatever goes wrong in them undoes the commit, and only that. */
import { EverstepError } from "../../model/error.ts";
import type { Mutation, Mutations } from "../../model/mutations.ts";
import type { CommitOutcome } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import { isUniqueViolation, resultCode, storeFailure } from "./failures.ts";
import { guard } from "./transaction-handle.ts";

export type RunMutations = (mutations: Mutations) => void;

/** Thrown to roll the transaction back; carries the answer. */
export class MutationRefused extends Error {
  readonly outcome: CommitOutcome & { readonly kind: "mutation-failed" };

  constructor(conflict: boolean, error: unknown) {
    super("The author's mutations were refused.");
    this.outcome = { kind: "mutation-failed", conflict, error };
  }
}

export function mutations(connection: Connection): RunMutations {
  const { db } = connection;
  // It vanishes with the transaction it was made in: if it is still there, so is the transaction.
  const mark = db.prepare("SAVEPOINT everstep_mutations");
  const unmark = db.prepare("RELEASE everstep_mutations");

  return ({ serviceCalls, mutate }) => {
    mark.run();
    const { handle, revoke } = guard(db.handle);
    try {
      for (const call of serviceCalls) runNow(call, handle);
      for (const mutation of mutate) runNow(mutation, handle);
    } catch (error) {
      throw refusal(error, connection);
    } finally {
      revoke();
    }
    try {
      unmark.run();
    } catch (cause) {
      throw new MutationRefused(false, endedTransaction(cause));
    }
  };
}

function runNow(mutation: Mutation, handle: object): void {
  const result: unknown = mutation(handle);
  if (!isThenable(result)) return;
  // It will never be waited for; a rejection must not take the process down.
  Promise.resolve(result).catch(() => {});
  throw new EverstepError(
    "MUTATION_INVALID",
    "A mutation returned a promise. SQLite writes are synchronous: do the writes before returning, without `await`.",
  );
}

/** A full or failing disk is not the author's doing: it stays a failure of the store, which may be tried again. */
function refusal(error: unknown, { settings }: Connection): Error {
  const code = resultCode(error, settings);
  if (isUniqueViolation(code)) return new MutationRefused(true, error);
  return code !== undefined && isTrouble(code & 0xff)
    ? storeFailure(error, settings, "statement")
    : new MutationRefused(false, error);
}

function isTrouble(primaryCode: number): boolean {
  const troubles = [5, 6, 7, 8, 10, 11, 13, 14, 15, 26];
  return troubles.includes(primaryCode);
}

function endedTransaction(cause: unknown): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    "A mutation ended the transaction it ran in; the step was not recorded. Leave BEGIN, COMMIT and ROLLBACK to the store.",
    { cause },
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
