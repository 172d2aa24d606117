/** Which of the runs found due are handed out: pure. */
import { crashesAfter, provesCrash } from "../../model/lease.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";

/** A run that is due and locked. */
export interface Candidate {
  readonly run: number;
  readonly workflow: string;
  readonly lane: number;
  readonly dueAt: number;
  readonly row: SqlRow;
}

export function readCandidates(rows: readonly SqlRow[]): readonly Candidate[] {
  return rows.map((row) => ({
    run: integer(row, "run"),
    workflow: text(row, "workflow"),
    lane: integer(row, "lane"),
    dueAt: integer(row, "due_at"),
    row,
  }));
}

/** How many more runs of each workflow may be leased. `held` counts those that are, of workflows with a limit. */
export function roomsOf({ workflows }: ClaimRequest, held: readonly SqlRow[]): Map<string, number> {
  const leased = new Map(held.map((row) => [text(row, "workflow"), integer(row, "held")]));
  return new Map(
    workflows.map(({ name, concurrency }) => {
      const room = concurrency === null ? Number.POSITIVE_INFINITY : concurrency - (leased.get(name) ?? 0);
      return [name, room];
    }),
  );
}

/** In the order in which they are handed out; their rows as `Dialect.claim` gives them. */
export function choose(
  request: ClaimRequest,
  rooms: Map<string, number>,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const taken: Candidate[] = [];
  for (const candidate of candidates.toSorted(inOrder)) {
    if (taken.length === request.limit) break;
    const room = rooms.get(candidate.workflow) ?? 0;
    if (room <= 0) continue;
    taken.push(asTaken(candidate, request));
    rooms.set(candidate.workflow, room - 1);
  }
  return taken;
}

/** Starts come last; a lease that ran out is work under way like any other. */
function inOrder(a: Candidate, b: Candidate): number {
  const starts = Number(a.lane === lanes.starting) - Number(b.lane === lanes.starting);
  return starts || a.dueAt - b.dueAt || a.run - b.run;
}

function asTaken(candidate: Candidate, request: ClaimRequest): Candidate {
  const { row, lane, dueAt } = candidate;
  const ranOut = lane === lanes.held;
  const before = integer(row, "crash_count");
  const counts = ranOut && provesCrash(dueAt, request);
  const crashes = counts ? crashesAfter(before, integer(row, "last_commit")) : before;
  const started = row.started_at ?? request.now;
  return {
    ...candidate,
    row: { ...row, ran_out: ranOut ? 1 : 0, crash_count: crashes, started_at: started },
  };
}
