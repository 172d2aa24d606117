/** One thing done to many instances: some at a time, to the end or until it is stopped, and what came of it. */
import type { WireRef } from "everstep/client";
import { type Problem, problemOf } from "../api/problem.ts";

export interface BulkProgress {
  readonly total: number;
  readonly done: number;
  readonly refused: readonly Refusals[];
  readonly state: "running" | "stopped" | "finished";
}

/** Those that were refused for the same reason. */
export interface Refusals {
  readonly code: string;
  /** What was said of the first of them. */
  readonly message: string;
  readonly instances: readonly WireRef[];
}

export interface BulkTerms<Item extends WireRef> {
  readonly items: readonly Item[];
  act(item: Item): Promise<unknown>;
  readonly atOnce: number;
  /** Aborted to stop it: what is under way is let finish, nothing more begins. */
  readonly stop: AbortSignal;
  onProgress(progress: BulkProgress): void;
}

export async function runBulk<Item extends WireRef>(terms: BulkTerms<Item>): Promise<BulkProgress> {
  const { items, act, atOnce, stop, onProgress } = terms;
  let progress: BulkProgress = { total: items.length, done: 0, refused: [], state: "running" };
  const told = (changes: Partial<BulkProgress>): void => {
    progress = { ...progress, ...changes };
    onProgress(progress);
  };
  const waiting = items.values();
  const work = async (): Promise<void> => {
    for (const item of waiting) {
      if (stop.aborted) return;
      try {
        await act(item);
        told({ done: progress.done + 1 });
      } catch (thrown) {
        told({ refused: withRefusal(progress.refused, item, problemOf(thrown)) });
      }
    }
  };
  onProgress(progress);
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  told({ state: handledOf(progress) < items.length ? "stopped" : "finished" });
  return progress;
}

export function handledOf({ done, refused }: Pick<BulkProgress, "done" | "refused">): number {
  return done + refused.reduce((sum, { instances }) => sum + instances.length, 0);
}

export function withRefusal(
  refused: readonly Refusals[],
  { workflowName, instanceId }: WireRef,
  { code, message }: Problem,
): readonly Refusals[] {
  const address = { workflowName, instanceId };
  if (!refused.some((each) => each.code === code))
    return [...refused, { code, message, instances: [address] }];
  return refused.map((each) =>
    each.code === code ? { ...each, instances: [...each.instances, address] } : each,
  );
}
