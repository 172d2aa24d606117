/** What there is to say of a row, in numbers and in words. */
import { counted } from "../../../words/numbers.ts";
import { spokenDuration, timeOf } from "../../../words/time.ts";
import type { Row, RowState } from "./rows.ts";
import { asOf } from "./segments.ts";
import { totalOf } from "./spans.ts";

export interface RowFacts {
  readonly startedAt: number;
  /** Null while it goes on. */
  readonly endedAt: number | null;
  /** From its first start until now or its end. */
  readonly took: number;
  readonly worked: number;
  readonly retryWaited: number;
  /** Failed for good, until somebody retried it. */
  readonly erroredFor: number;
  /** Slept, or waited for an event. */
  readonly waited: number;
  /** Due, and no runner had taken the instance. */
  readonly late: number;
  /** Recorded attempts, and the one that runs. */
  readonly attempts: number;
  readonly cutOff: number;
  /** When an open wait is to be over. */
  readonly due: number | null;
  readonly lastError: { readonly name: string; readonly message: string } | null;
}

export function factsOf(row: Row, now: number): RowFacts {
  const segments = asOf(row.segments, now);
  const of = (...kinds: readonly string[]): number =>
    totalOf(segments.filter(({ kind }) => kinds.includes(kind)));
  const end = segments.reduce((last, { to }) => Math.max(last, to), row.from);
  const isRunning = row.state === "running";
  return {
    startedAt: row.from,
    endedAt: row.step?.settledAt ? timeOf(row.step.settledAt) : null,
    took: end - row.from,
    worked: of("attempt", "forgotten"),
    retryWaited: of("retry"),
    erroredFor: of("errored"),
    waited: of("sleep", "event"),
    late: of("late"),
    attempts: (row.step?.attempts ?? 0) + (isRunning ? 1 : 0),
    cutOff: row.segments.reduce((sum, { cutOff }) => sum + cutOff, 0),
    due: row.segments.find(({ to }) => to === null)?.due ?? null,
    lastError: row.step?.error ?? row.step?.errors.at(-1) ?? null,
  };
}

export const stateWords: Readonly<Record<RowState, string>> = {
  running: "running",
  retrying: "waiting for a retry",
  sleeping: "sleeping",
  awaiting: "waiting for an event",
  completed: "completed",
  errored: "errored",
  left: "not finished",
};

/** Where there is little room. */
export const stateMarks: Readonly<Record<RowState, string>> = {
  ...stateWords,
  retrying: "waiting",
  awaiting: "waiting",
};

/** For those who hear it: "charge, completed, 3 attempts, took 2.1 s of which 2 s waiting for retries". */
export function labelOf(row: Row, now: number): string {
  const facts = factsOf(row, now);
  const parts = [row.name, stateWords[row.state]];
  if (row.type === "do" && facts.attempts !== 1) parts.push(counted(facts.attempts, "attempt"));
  if (facts.cutOff > 0) parts.push(`${counted(facts.cutOff, "start")} cut off by a crash`);
  parts.push(`${verbs[row.type]} ${spokenDuration(facts.took)}${waitingPart(facts)}`);
  return parts.join(", ");
}

const verbs: Readonly<Record<Row["type"], string>> = { do: "took", sleep: "slept", waitForEvent: "waited" };

function waitingPart({ retryWaited, erroredFor, late }: RowFacts): string {
  const parts = [
    ...(retryWaited > 0 ? [`${spokenDuration(retryWaited)} waiting for retries`] : []),
    ...(erroredFor > 0 ? [`${spokenDuration(erroredFor)} errored until it was retried`] : []),
    ...(late > 0 ? [`${spokenDuration(late)} waiting for a runner`] : []),
  ];
  return parts.length === 0 ? "" : ` of which ${parts.join(" and ")}`;
}
