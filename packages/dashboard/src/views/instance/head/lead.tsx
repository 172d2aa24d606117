/** What there is to know first: why it failed, what it waits for, what it is at, or why nobody is at it. */
import { Ban, CircleDot, CircleHelp, CirclePause } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Notice } from "../../../parts/notice.tsx";
import { Bone } from "../../../parts/skeleton.tsx";
import { useNow } from "../../../parts/use-now.ts";
import { When } from "../../../parts/when.tsx";
import { useQuery } from "../../../use-query.ts";
import { spokenRunning, timeOf } from "../../../words/time.ts";
import type { Live } from "../live.ts";
import { ErrorPanel } from "./error-panel.tsx";
import { leadKind } from "./lead-kind.ts";
import { Scheduled } from "./scheduled.tsx";
import { terminationText } from "./termination.ts";
import { waitsOf } from "./waits.ts";
import { WaitsPanel } from "./waits-panel.tsx";

export function Lead({ live }: { readonly live: Live }) {
  const { details, steps, running } = live.value;
  const { why, isOld } = live.why;
  const { status } = details;
  const waits = status === "complete" ? [] : waitsOf(steps);
  const kind = leadKind({ status, why, waitCount: waits.length, bodyCount: running.length });
  return (
    <div className={`why is-${kind}${isOld ? " is-old" : ""}`} aria-busy={isOld}>
      {live.isUnregistered && (
        <Notice tone="warn">
          No code for workflow <code>{live.address.workflowName}</code> is registered in the process that
          answered. It can be looked at, paused and terminated; to go on it needs the workflow deployed again.
        </Notice>
      )}
      {live.isStale && <p className="dim">The server is out of reach; what is below may be old.</p>}
      {kind === "error" && <ErrorPanel live={live} />}
      {kind === "terminated" && <Terminated live={live} />}
      {kind === "paused" && <Paused live={live} />}
      {kind === "running" && <Running live={live} />}
      {kind === "scheduled" && <Scheduled live={live} />}
      {kind === "why" && !live.isStale && <Sentence live={live} />}
      {(kind === "waits" || kind === "paused" || kind === "running") && <WaitsPanel live={live} />}
      <Warnings all={why?.warnings ?? []} />
    </div>
  );
}

function Strip({ icon, children }: { readonly icon: ReactNode; readonly children: ReactNode }) {
  return (
    <div className="lead-strip">
      {icon}
      <p>{children}</p>
    </div>
  );
}

function Terminated({ live }: { readonly live: Live }) {
  const { terminationReason } = live.value.meta;
  return (
    <Strip icon={<Ban aria-hidden />}>
      Terminated {terminationReason ? `by ${terminationText(terminationReason)}` : ""}
    </Strip>
  );
}

function Paused({ live }: { readonly live: Live }) {
  const { running, meta } = live.value;
  const { lastAction } = live.why.why ?? {};
  const last = running.at(-1);
  return (
    <Strip icon={<CirclePause aria-hidden />}>
      Paused{lastAction?.action === "pause" && lastAction.actor !== null && ` by ${lastAction.actor}`}{" "}
      <span className="dim">
        <When at={meta.updatedAt} />
      </span>
      {last && (
        <>
          . Its step <bdi className="mono">{last.name}</bdi> is still running and will be recorded.
        </>
      )}
    </Strip>
  );
}

const bodiesMax = 3;

function Running({ live }: { readonly live: Live }) {
  const { running, steps } = live.value;
  const now = useNow();
  const query = useQuery();
  return (
    <Strip icon={<CircleDot aria-hidden />}>
      {running.slice(0, bodiesMax).map(({ stepKey, name, start, startedAt }, n) => {
        const step = steps.find((each) => each.stepKey === stepKey);
        const href = step && query.href({ tab: null, run: null, with: null, step: step.index });
        return (
          <span key={stepKey}>
            {n > 0 && ", "}
            {href ? <Link href={href}>{name}</Link> : <bdi className="mono">{name}</bdi>}
            {start > 1 && ` (start ${start})`} {runningWords(now - timeOf(startedAt), live.isStale)}
          </span>
        );
      })}
      {running.length > bodiesMax && `, and ${running.length - bodiesMax} more`}
    </Strip>
  );
}

/** In whole seconds; of what is out of reach it is not known whether it still runs. */
function runningWords(ms: number, isStale: boolean): string {
  if (isStale) return "was running";
  return ms < 1000 ? "is running" : `is running for ${spokenRunning(ms)}`;
}

/** What the server says of it, and what to do. */
function Sentence({ live }: { readonly live: Live }) {
  const { why, isOld, problem } = live.why;
  return (
    <Strip icon={<CircleHelp aria-hidden />}>
      {why ? (
        <>
          {why.answer} {why.advice && <span className="dim">{why.advice}</span>}
        </>
      ) : problem && !isOld ? (
        <span className="dim">Why it is like this could not be asked: {problem.message}</span>
      ) : (
        <Bone width="24ch" height={20} />
      )}
    </Strip>
  );
}

/** What the engine itself has logged of the run. */
function Warnings({ all }: { readonly all: readonly string[] }) {
  if (all.length === 0) return null;
  return (
    <ul className="why-warnings">
      {[...new Set(all)].map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
