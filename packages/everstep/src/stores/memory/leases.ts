import type { ReturnedLease } from "../../model/lease.ts";
import { released, renewed } from "../../store/apply/apply-lease.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { RenewAnswer, Renewal } from "../../store/index.ts";
import type { MemoryDatabase } from "./database.ts";
import type { Run } from "./run.ts";

export function renew(database: MemoryDatabase, renewal: Renewal, until: number): RenewAnswer {
  const run = database.runs.get(runKey(renewal.lease.runId));
  const { move, answer } = renewed(run?.row, renewal, until);
  change(database, run, move);
  return answer;
}

export function release(database: MemoryDatabase, lease: ReturnedLease, now: number): void {
  const run = database.runs.get(runKey(lease.runId));
  change(database, run, released(run?.row, lease, now));
}

function change(database: MemoryDatabase, run: Run | undefined, move: Partial<RunRow> | null): void {
  if (run !== undefined && move !== null) database.put(run, { ...run.row, ...move });
}
