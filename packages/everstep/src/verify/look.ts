/**
 * Reading one run while others may write to it. What proves that it held still: a run without a lease is written only by
 * those who change its record, and every claim moves the token; so the same record before and after the reads is a run
 * that stood still. Under a lease commits may pass unseen, so whoever finds something there looks twice.
 */
import { EverstepError, StoreError } from "../model/error.ts";
import type { InstanceRecord, InstanceRef } from "../model/instance.ts";
import type { Page, PageQuery, Store } from "../store/store.ts";
import type { RunFacts } from "./run-facts.ts";
import { same } from "./same.ts";

export type VerifyReads = Pick<
  Store,
  "getInstance" | "listInstances" | "listSteps" | "listEvents" | "listUnlisted"
>;

export type Look =
  | { readonly kind: "still"; readonly facts: RunFacts }
  | { readonly kind: "moved"; readonly record: InstanceRecord }
  /** Removed meanwhile. */
  | { readonly kind: "gone" }
  | { readonly kind: "unreadable"; readonly message: string };

/** Rows that are read at once, and those that a run may have to be looked at as a whole. */
const pageSize = 500;
export const rowsMax = 100_000;

/** `known` is the record as it was read a moment ago. */
export async function lookAt(
  reads: VerifyReads,
  ref: InstanceRef,
  runNumber: number,
  known?: InstanceRecord,
): Promise<Look> {
  try {
    const before = known ?? (await reads.getInstance(ref, runNumber));
    if (before === undefined) return { kind: "gone" };
    // Events first: the step that took one was recorded with it, so it is among the steps read later.
    const events = await readRows((query) => reads.listEvents(before.runId, query));
    const steps = await readRows((query) => reads.listSteps(before.runId, query));
    const newest = await reads.getInstance(ref);
    const isCurrent = newest?.runNumber === runNumber;
    const after = isCurrent ? newest : await reads.getInstance(ref, runNumber);
    if (after === undefined) return { kind: "gone" };
    if (events === null || steps === null) {
      return {
        kind: "unreadable",
        message: `It has more than ${rowsMax} steps or events; it was not judged.`,
      };
    }
    if (!same(before, after)) return { kind: "moved", record: after };
    return { kind: "still", facts: { record: after, isCurrent, steps, events } };
  } catch (problem) {
    if (!isDamage(problem)) throw problem;
    return { kind: "unreadable", message: damageText(problem) };
  }
}

/** Not the store failed to answer, but what it holds makes no sense. */
export function isDamage(problem: unknown): boolean {
  if (problem instanceof StoreError) return problem.code === "STORE_CORRUPT";
  if (problem instanceof EverstepError) return problem.code === "HISTORY_UNREADABLE";
  return true;
}

export function damageText(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

/** All of them in order, page by page; null when there are too many. */
async function readRows<Row>(read: (query: PageQuery) => Promise<Page<Row>>): Promise<readonly Row[] | null> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page: Page<Row> = await read({
      limit: pageSize,
      order: "asc",
      ...(after === undefined ? {} : { after }),
    });
    rows.push(...page.items);
    after = page.after;
    if (rows.length > rowsMax) return null;
  } while (after !== undefined);
  return rows;
}
