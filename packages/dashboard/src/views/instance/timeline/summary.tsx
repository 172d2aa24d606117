/** Where the time went, in numbers and as one bar. */
import type { InstanceStatus } from "everstep/client";
import { spokenDuration } from "../../../words/time.ts";
import { isNegligible } from "./overhead.ts";
import { phaseWords } from "./phase-words.ts";
import type { PhaseKind, Times } from "./phases.ts";

const shown: readonly Exclude<PhaseKind, "earlier">[] = [
  "work",
  "failed",
  "retry",
  "errored",
  "sleep",
  "event",
  "scheduled",
  "queued",
  "paused",
  "lost",
  "between",
];

export function Summary({
  times,
  isLive,
  status,
}: {
  readonly times: Times;
  readonly isLive: boolean;
  readonly status: InstanceStatus;
}) {
  const parts = shown.filter((kind) => times[kind] > 0 && !isNegligible(kind, times));
  const all = Math.max(1, times.total);
  return (
    <div className="tl-summary">
      <dl>
        <div className="tl-total" title="From its creation, so with what it stood in line before its start.">
          <dt>{isLive ? `total so far, ${status}` : "total"}</dt>
          <dd>{spokenDuration(times.total)}</dd>
        </div>
        {parts.map((kind) => (
          <div key={kind} title={phaseWords[kind].about} data-part={kind}>
            <dt>
              <span className={`tl-swatch is-${kind}`} aria-hidden />
              {phaseWords[kind].name}
            </dt>
            <dd>
              {spokenDuration(times[kind])} <span className="dim small">{share(times[kind] / all)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <div className="tl-stack" aria-hidden>
        {parts.map((kind) => (
          <span key={kind} className={`is-${kind}`} style={{ flexGrow: times[kind] }} />
        ))}
      </div>
    </div>
  );
}

function share(part: number): string {
  if (part >= 0.995) return "100%";
  return part < 0.01 ? "<1%" : `${Math.round(part * 100)}%`;
}
