/** What the looks of bars mean, in words: only of those that are there. */
import { Zap } from "lucide-react";
import { phaseWords } from "./phase-words.ts";
import type { Phase, PhaseKind } from "./phases.ts";
import type { Row } from "./rows.ts";
import { asOf, type Segment } from "./segments.ts";

interface Meaning {
  /** That of what is meant, unless said. */
  readonly look?: string;
  readonly words: string;
  isMeant(segment: Segment, now: number): boolean;
}

const meanings: readonly Meaning[] = [
  {
    look: "tl-block k-attempt o-completed",
    words: "attempt that completed",
    isMeant: ({ kind, outcome }) => kind === "attempt" && outcome === "completed",
  },
  {
    look: "tl-block k-attempt o-failed",
    words: "attempt that failed",
    isMeant: ({ kind, outcome }) => kind === "attempt" && outcome === "failed",
  },
  {
    look: "tl-block k-attempt o-open",
    words: "running now",
    isMeant: ({ kind, outcome }) => kind === "attempt" && outcome === "open",
  },
  {
    look: "tl-block k-retry",
    words: "waiting for the next attempt",
    isMeant: ({ kind }) => kind === "retry",
  },
  {
    look: "tl-block k-errored",
    words: "errored, until it was retried",
    isMeant: ({ kind }) => kind === "errored",
  },
  { look: "tl-block k-sleep", words: "sleeping", isMeant: ({ kind }) => kind === "sleep" },
  { look: "tl-block k-event", words: "waiting for an event", isMeant: ({ kind }) => kind === "event" },
  {
    look: "tl-block k-late",
    words: "due, and not yet taken by a runner",
    isMeant: ({ kind }) => kind === "late",
  },
  {
    look: "tl-block k-planned",
    words: "planned",
    isMeant: ({ due, to }, now) => due !== null && due > (to ?? now),
  },
  {
    words: "not finished when the instance ended",
    isMeant: ({ outcome }) => outcome === "left",
  },
  {
    look: "tl-block k-forgotten",
    words: "earlier attempts, no longer kept one by one",
    isMeant: ({ kind }) => kind === "forgotten",
  },
  {
    look: "tl-cut",
    words: "a start before this was cut off by a crash",
    isMeant: ({ cutOff }) => cutOff > 0,
  },
];

const grounds: readonly PhaseKind[] = ["scheduled", "queued", "between", "paused", "lost", "earlier"];

export function Legend({
  rows,
  phases,
  now,
  hasBreaks,
}: {
  readonly rows: readonly Row[];
  readonly phases: readonly Phase[];
  readonly now: number;
  readonly hasBreaks: boolean;
}) {
  const segments = rows.flatMap(({ segments }) => asOf(segments, now));
  const shown = meanings.flatMap(({ look, words, isMeant }) => {
    const one = segments.find((segment) => isMeant(segment, now));
    return one ? [{ words, look: look ?? `tl-block k-${one.kind} o-${one.outcome}` }] : [];
  });
  const lanes = grounds.filter((kind) => phases.some((phase) => phase.kind === kind));
  return (
    <ul className="tl-legend small dim" aria-label="What the looks mean">
      {shown.map(({ look, words }) => (
        <li key={words}>
          <span className={`${look} is-sample`} aria-hidden>
            {look === "tl-cut" && <Zap />}
          </span>
          {words}
        </li>
      ))}
      {lanes.map((kind) => (
        <li key={kind} title={phaseWords[kind].about}>
          <span className={`tl-lane is-${kind} is-sample`} aria-hidden />
          {phaseWords[kind].name}
        </li>
      ))}
      {hasBreaks && (
        <li>
          <span className="tl-break is-sample" aria-hidden>
            <span className="tl-snip" />
          </span>
          a long wait, cut short
        </li>
      )}
    </ul>
  );
}
