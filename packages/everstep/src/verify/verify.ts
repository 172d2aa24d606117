/** Goes through the runs of a store and judges each by what must hold. Reads only, in bounded pages, beside live work. */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { InstanceRecord } from "../model/instance.ts";
import type { Runtime } from "../model/runtime.ts";
import { checkRun } from "./check-run.ts";
import { eachOf } from "./each-of.ts";
import { type InstanceFilter, InstancePages } from "./instance-pages.ts";
import { standstills } from "./liveness.ts";
import { lookAt, type VerifyReads } from "./look.ts";
import type { RunFacts } from "./run-facts.ts";
import { same } from "./same.ts";
import { Tally } from "./tally.ts";
import type { VerifyProgress, VerifyReport } from "./verify-report.ts";

export interface VerifyPlan {
  readonly reads: VerifyReads;
  readonly runtime: Pick<Runtime, "now" | "float" | "drained">;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  readonly filter: InstanceFilter;
  /** Instances to go through at most. */
  readonly limit: number;
  readonly after: string | undefined;
  /** Which part of them is looked at, 1 for all. */
  readonly sample: number;
  /** Older runs too. */
  readonly history: boolean;
  /** Also what may have an explanation. */
  readonly doubts: boolean;
  readonly overdueMs: number;
  readonly onProgress: (progress: VerifyProgress) => void;
}

/** Instances that are listed at once, and runs that are read at once. */
const pageSize = 100;
const width = 8;
/** How often a run that moves, or in which something was found, is looked at. */
const looksMax = 5;
/** Older runs of one instance. */
const olderMax = 1000;

export async function verify(plan: VerifyPlan): Promise<VerifyReport> {
  const pages = new InstancePages(plan.reads, plan.filter, plan.after);
  const tally = new Tally(plan.doubts);
  let instances = 0;
  while (!pages.isOver && instances < plan.limit && !tally.isEnough) {
    await othersHadATurn(plan);
    const page = await pages.next(Math.min(pageSize, plan.limit - instances));
    instances += page.length;
    const chosen = plan.sample === 1 ? page : page.filter(() => plan.runtime.float() < plan.sample);
    await judge(
      chosen.flatMap((record) => suspectsOf(record, plan.history)),
      plan,
      tally,
    );
    plan.onProgress({ instances, checked: tally.checked, violations: tally.violations });
  }
  if (pages.isOver && !tally.isEnough) await judgeUnlisted(plan, tally);
  for (const hole of pages.unreadable) tally.unreadable(hole);
  return tally.report(pages.isOver ? undefined : pages.place);
}

/**
 * Runs in no list of due runs are met among all instances, unless they are in no other list either: those are looked for by
 * themselves. One that both ways lead to is judged once.
 */
async function judgeUnlisted(plan: VerifyPlan, tally: Tally): Promise<void> {
  const { workflowName, statuses } = plan.filter;
  let after: string | undefined;
  do {
    const page = await plan.reads.listUnlisted?.({
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    const meant = (page?.items ?? []).filter(
      (record) =>
        (workflowName === undefined || record.workflowName === workflowName) &&
        (statuses === undefined || statuses.includes(record.status)) &&
        !tally.knows(record),
    );
    await judge(
      meant.flatMap((record) => suspectsOf(record, false)),
      plan,
      tally,
    );
    after = page?.after;
  } while (after !== undefined && !tally.isEnough);
}

/** A store in this process answers at once, and would let nobody else have a turn before the end. */
function othersHadATurn({ runtime }: VerifyPlan): Promise<void> {
  return new Promise((resolve) => runtime.drained(resolve));
}

/** A run that has to be looked at (again). */
interface Suspect {
  /** As it was listed, of the current run. */
  readonly listed: InstanceRecord;
  readonly runNumber: number;
  /** What the last look showed, if something was wrong with it. */
  before: RunFacts | string | null;
}

function suspectsOf(listed: InstanceRecord, history: boolean): readonly Suspect[] {
  const { runNumber } = listed;
  const older = history ? Math.min(runNumber - 1, olderMax) : 0;
  return Array.from({ length: older + 1 }, (_, n) => ({ listed, runNumber: runNumber - n, before: null }));
}

/** Those that moved and those in which something was found are looked at again after all others had their turn. */
async function judge(runs: readonly Suspect[], plan: VerifyPlan, tally: Tally): Promise<void> {
  let left = runs;
  for (let look = 1; look <= looksMax && left.length > 0; look++) {
    const again: Suspect[] = [];
    await eachOf(left, width, async (run) => {
      const isFirst = look === 1 && run.runNumber === run.listed.runNumber;
      if (!(await isSettled(run, isFirst, plan, tally))) again.push(run);
    });
    left = again;
  }
  tally.moving(left.length);
}

/** True when nothing is left to find out about the run. */
async function isSettled(run: Suspect, isFirst: boolean, plan: VerifyPlan, tally: Tally): Promise<boolean> {
  const { listed, runNumber } = run;
  await othersHadATurn(plan);
  const look = await lookAt(plan.reads, listed, runNumber, isFirst ? listed : undefined);
  const { workflowName, instanceId } = listed;
  switch (look.kind) {
    case "moved":
      run.before = null;
      return false;
    case "gone":
      return runNumber === listed.runNumber || (await isLostRun(run, plan, tally));
    case "unreadable":
      if (run.before !== look.message) {
        run.before = look.message;
        return false;
      }
      tally.unreadable({ workflowName, instanceId, runNumber, message: look.message });
      return true;
    case "still":
      return isJudged(run, look.facts, plan, tally);
  }
}

function isJudged(run: Suspect, facts: RunFacts, plan: VerifyPlan, tally: Tally): boolean {
  const { record, isCurrent } = facts;
  const definition = plan.definitions.get(record.workflowName);
  const now = plan.runtime.now();
  const found = tally.wanted(checkRun(facts, now, definition?.limits));
  // Two looks that are the same to the letter: what was found is there, and not made by reading in between writes.
  if (found.length > 0 && !same(run.before, facts)) {
    run.before = facts;
    return false;
  }
  const { overdueMs } = plan;
  tally.judged(record, found, isCurrent ? standstills(record, { now, overdueMs, definition }) : []);
  return true;
}

/** An older run is kept as long as its instance. */
async function isLostRun({ listed, runNumber }: Suspect, plan: VerifyPlan, tally: Tally): Promise<boolean> {
  const current = await plan.reads.getInstance(listed);
  // Under the same id there may be another instance by now.
  if (current?.runId === listed.runId) tally.lost(listed, runNumber);
  return true;
}
