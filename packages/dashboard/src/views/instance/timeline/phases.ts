/** What the whole instance was at, from moment to moment: every moment is one thing. */
import type { InstanceStatus } from "everstep/client";
import type { Row, RunRows } from "./rows.ts";
import { asOf, type Segment, type SegmentKind } from "./segments.ts";
import { type Span, subtract, totalOf, union, within } from "./spans.ts";

export type PhaseKind =
  /** Steps that were taken over from an earlier run or another instance. */
  | "earlier"
  | "work"
  /** Bodies at work, and every attempt of them failed. */
  | "failed"
  | "retry"
  /** Failed for good, and nobody had retried it. */
  | "errored"
  | "event"
  | "sleep"
  /** Its start is still to come. */
  | "scheduled"
  /** Due, and no runner had taken it. */
  | "queued"
  | "paused"
  /** A crash cut a body off; until it began again, what it had done for nothing included. */
  | "lost"
  /** Nothing of this instance ran or waited: its turn was on the way, or its function had something else to do. */
  | "between";

export interface Phase extends Span {
  readonly kind: PhaseKind;
}

/** In which order they win where several are true: what is at work is not waiting. */
const waits: readonly (readonly [PhaseKind, readonly SegmentKind[]])[] = [
  ["retry", ["retry"]],
  ["errored", ["errored"]],
  ["event", ["event"]],
  ["sleep", ["sleep"]],
  ["queued", ["late"]],
];

export function phasesOf(run: RunRows, status: InstanceStatus, now: number): readonly Phase[] {
  const end = Math.max(run.endedAt ?? now, run.origin);
  const all: Span = { from: run.origin, to: end };
  const taken: Phase[] = [];
  let free: readonly Span[] = [all];
  const take = (kind: PhaseKind, spans: readonly Span[]): void => {
    const wanted = within(union(spans), all);
    const rest = subtract(free, wanted);
    for (const span of subtract(free, rest)) taken.push({ kind, ...span });
    free = rest;
  };
  take("earlier", [{ from: run.origin, to: run.beganAt }]);
  const startedAt = run.startedAt ?? end;
  if (run.startsAt !== null) take("scheduled", [{ from: run.beganAt, to: run.startsAt }]);
  take("queued", [{ from: run.beganAt, to: startedAt }]);
  take(
    "work",
    workOf(run.rows, end, (segment) => !hasFailed(segment)),
  );
  take("failed", workOf(run.rows, end, hasFailed));
  const byKind = spansByKind(run.rows, end);
  for (const [kind, kinds] of waits)
    take(
      kind,
      kinds.flatMap((each) => byKind.get(each) ?? []),
    );
  const begunAgain = new Set(
    run.rows.flatMap(({ segments }) => segments.filter(isBegunAgain).map(({ from }) => from)),
  );
  take(
    "lost",
    free.filter(({ to }) => begunAgain.has(to)),
  );
  const last = free.at(-1);
  if (status === "paused" && last && last.to === end) take("paused", [last]);
  take("between", free);
  return taken.sort((a, b) => a.from - b.from);
}

function isBegunAgain({ cutOff }: Segment): boolean {
  return cutOff > 0;
}

function spansByKind(rows: readonly Row[], end: number): ReadonlyMap<SegmentKind, Span[]> {
  const spans = new Map<SegmentKind, Span[]>();
  for (const { segments } of rows) {
    for (const { kind, from, to } of asOf(segments, end)) {
      const known = spans.get(kind);
      if (known) known.push({ from, to });
      else spans.set(kind, [{ from, to }]);
    }
  }
  return spans;
}

/** Bodies at work. One that only waits for what is inside of it does not work meanwhile. */
export function workOf(
  rows: readonly Row[],
  end: number,
  isMeant: (segment: Segment) => boolean = () => true,
): readonly Span[] {
  const inside = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.parentKey === null) continue;
    const known = inside.get(row.parentKey);
    if (known) known.push(row);
    else inside.set(row.parentKey, [row]);
  }
  return union(rows.flatMap((row) => ownWork(row, inside.get(row.key) ?? [], end, isMeant)));
}

function ownWork(
  row: Row,
  children: readonly Row[],
  end: number,
  isMeant: (segment: Segment) => boolean,
): readonly Span[] {
  const bodies = asOf(row.segments, end).filter((segment) => isWork(segment) && isMeant(segment));
  if (children.length === 0) return bodies;
  const waits = children.flatMap(({ segments }) => asOf(segments, end).filter((each) => !isWork(each)));
  return subtract(union(bodies), union(waits));
}

function hasFailed({ outcome }: Segment): boolean {
  return outcome === "failed";
}

function isWork({ kind }: { readonly kind: SegmentKind }): boolean {
  return kind === "attempt" || kind === "forgotten";
}

export type Times = Readonly<Record<PhaseKind, number>> & { readonly total: number };

/** How long it was at what. What was taken over from before is not counted. */
export function timesOf(phases: readonly Phase[]): Times {
  const of = (kind: PhaseKind): number => totalOf(phases.filter((phase) => phase.kind === kind));
  const times = {
    earlier: of("earlier"),
    work: of("work"),
    failed: of("failed"),
    retry: of("retry"),
    errored: of("errored"),
    event: of("event"),
    sleep: of("sleep"),
    scheduled: of("scheduled"),
    queued: of("queued"),
    paused: of("paused"),
    lost: of("lost"),
    between: of("between"),
  };
  return { ...times, total: totalOf(phases) - times.earlier };
}
