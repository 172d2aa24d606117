import { isTerminal } from "../../model/instance.ts";
import type { Lease, ReturnedLease } from "../../model/lease.ts";
import type {
  AbandonOutcome,
  AbandonRequest,
  RenewAnswer,
  Renewal,
  WakeOutcome,
  WakeRequest,
} from "../../store/index.ts";
import type { MemoryDatabase } from "./database.ts";
import { detached } from "./detached.ts";
import type { Run } from "./run.ts";
import { end, extendLease, giveBack, isSchedulable, makeDue } from "./run.ts";

/** Renewal is not acquisition: it succeeds only while nobody else has claimed the run (INV-4). */
export function renew(
  database: MemoryDatabase,
  { lease, begun, commit, applied = 0 }: Renewal,
  until: number,
): RenewAnswer {
  const run = held(database, lease);
  if (run === undefined || run.lastCommit < applied) return { kind: "lost" };
  if (commit === undefined || commit === run.lastCommit) run.begun = detached(begun);
  extendLease(database, run, until);
  return { kind: "renewed", eventSeq: run.eventSeq, paused: run.status === "paused" };
}

export function release(database: MemoryDatabase, lease: ReturnedLease, now: number): void {
  const run = held(database, lease);
  if (run === undefined) return;
  if (lease.retryAt === undefined) giveBack(database, run, "resume", now);
  else giveBack(database, run, "retry", lease.retryAt);
}

export function wake(database: MemoryDatabase, { runId, token }: WakeRequest, now: number): WakeOutcome {
  const run = database.runs.get(runId);
  if (run === undefined || run.token !== token || run.leased || !isSchedulable(run))
    return { kind: "ignored" };
  makeDue(database, run, "wake", now);
  return { kind: "woken" };
}

export function abandon(
  database: MemoryDatabase,
  { owner, fate }: AbandonRequest,
  now: number,
): AbandonOutcome {
  const runs = [...database.runs.values()].filter((run) => run.owner === owner && !isTerminal(run.status));
  if (fate.kind === "error") {
    for (const run of runs) {
      run.token += 1;
      end(database, run, { status: "errored", error: detached(fate.error) }, now);
    }
    return { kind: "abandoned", runs: runs.length };
  }
  const leased = runs.filter((run) => run.leased);
  if (fate.kind === "release") {
    const unheard = leased.filter((run) => run.token === fate.token);
    for (const run of unheard) giveBack(database, run, "resume", now);
    return { kind: "abandoned", runs: unheard.length };
  }
  // Still leased, so that the next claim counts a crash.
  for (const run of leased) makeDue(database, run, run.kind, now);
  return { kind: "abandoned", runs: leased.length };
}

function held(database: MemoryDatabase, lease: Lease): Run | undefined {
  const run = database.runs.get(lease.runId);
  return run?.leased === true && run.token === lease.token ? run : undefined;
}
