/** Which of the runs found due are handed out, and which are put back: pure. */
import type { ClaimRound } from "../sql/dialect.ts";
import { lanes } from "../sql/lane.ts";
import { integer, type SqlRow, text } from "../sql/row.ts";

/** A run that is due and locked. */
export interface Candidate {
  readonly run: number;
  readonly workflow: string;
  readonly lane: number;
  readonly dueAt: number;
  readonly crashCount: number;
  /** The last one read of its stretch, with perhaps more behind it. */
  readonly isLast: boolean;
  readonly row: SqlRow;
}

export interface Choice {
  /** In the order in which they are handed out; the rows as they will be, but for `waiting_since`. */
  readonly taken: readonly Candidate[];
  readonly putBack: readonly PutBack[];
}

export interface PutBack {
  readonly run: number;
  readonly dueAt: number;
}

/** From one stretch, of which at most `limit` were read. */
export function readCandidates(rows: readonly SqlRow[], limit: number): readonly Candidate[] {
  return rows.map((row, n) => ({
    run: integer(row, "run"),
    workflow: text(row, "workflow"),
    lane: integer(row, "lane"),
    dueAt: integer(row, "due_at"),
    crashCount: integer(row, "crash_count"),
    isLast: n === limit - 1,
    row,
  }));
}

/** How many more runs of each workflow may be leased. `held` counts those that are, of workflows with a limit. */
export function roomsOf({ workflows }: ClaimRound, held: readonly SqlRow[]): Map<string, number> {
  const leased = new Map(held.map((row) => [text(row, "workflow"), integer(row, "held")]));
  return new Map(
    workflows.map(({ name, concurrency }) => {
      const room = concurrency === null ? Number.POSITIVE_INFINITY : concurrency - (leased.get(name) ?? 0);
      return [name, room];
    }),
  );
}

export function choose(
  round: ClaimRound,
  rooms: Map<string, number>,
  candidates: readonly Candidate[],
): Choice {
  const taken: Candidate[] = [];
  const putBack: PutBack[] = [];
  for (const candidate of candidates.toSorted(inOrder)) {
    if (taken.length === round.limit) break;
    const room = rooms.get(candidate.workflow) ?? 0;
    if (room <= 0) continue;
    const delayMs = crashDelayMs(candidate, round);
    if (delayMs > 0) {
      putBack.push({ run: candidate.run, dueAt: round.now + delayMs });
    } else {
      taken.push(asTaken(candidate, round));
      rooms.set(candidate.workflow, room - 1);
    }
    // What lies behind goes before the other stretches' next ones, and is found in the next round.
    if (candidate.isLast && putBack.length > 0) break;
  }
  return { taken, putBack };
}

/** Starts come last; a lease that ran out is work under way like any other. */
function inOrder(a: Candidate, b: Candidate): number {
  const starts = Number(a.lane === lanes.starting) - Number(b.lane === lanes.starting);
  return starts || a.dueAt - b.dueAt || a.run - b.run;
}

/** A run whose lease ran out too often in a row waits a while before anyone may try again. */
function crashDelayMs({ lane, crashCount }: Candidate, { crashDelaysMs }: ClaimRound): number {
  if (lane !== lanes.held) return 0;
  return crashDelaysMs[Math.min(crashCount, crashDelaysMs.length - 1)] ?? 0;
}

function asTaken(candidate: Candidate, { now }: ClaimRound): Candidate {
  const { row, lane, crashCount } = candidate;
  const token = integer(row, "token") + 1;
  const crashes = crashCount + (lane === lanes.held ? 1 : 0);
  return { ...candidate, row: { ...row, token, crash_count: crashes, started_at: row.started_at ?? now } };
}
