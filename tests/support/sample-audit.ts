/** For tests: audits of a shelf, and what to put on it. */
import { buildDefinition } from "../../packages/everstep/src/authoring/define-workflow.ts";
import type { InstanceRecord } from "../../packages/everstep/src/model/instance.ts";
import type { RunFacts } from "../../packages/everstep/src/verify/run-facts.ts";
import { type VerifyPlan, verify } from "../../packages/everstep/src/verify/verify.ts";
import type { VerifyReport } from "../../packages/everstep/src/verify/verify-report.ts";
import { completeRecord, runOf, sampleNow } from "./sample-run.ts";
import type { Shelf } from "./sample-shelf.ts";

/** An audit as the app would begin it, with what the case changes. */
export function audit(shelf: Shelf, plan: Partial<VerifyPlan> = {}): Promise<VerifyReport> {
  return verify({
    reads: shelf,
    runtime: sampleRuntime,
    definitions: new Map([["order", order]]),
    filter: {},
    limit: 10_000,
    after: undefined,
    sample: 1,
    history: false,
    doubts: false,
    overdueMs: 1000,
    onProgress: () => {},
    ...plan,
  });
}

export const sampleRuntime = {
  now: () => sampleNow,
  float: () => 0.5,
  drained: (done: () => void) => done(),
};

const order = buildDefinition({ name: "order", concurrency: 3 }, async () => {}, "everstep");

/** The n-th instance, with a run of its own. */
export function numbered(n: number, record: (facts: Partial<InstanceRecord>) => InstanceRecord): RunFacts {
  return runOf(record({ instanceId: `o-${n}`, runId: n }));
}

/** Its own output is missing. */
export function broken(n: number): RunFacts {
  return numbered(n, (facts) => completeRecord({ ...facts, output: null }));
}

export function many(count: number): readonly RunFacts[] {
  return Array.from({ length: count }, (_, n) => numbered(n + 1, completeRecord));
}
