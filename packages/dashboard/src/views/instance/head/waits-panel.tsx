/** What it waits for, how long still, and the way to cut that short. */
import { FastForward, Hourglass, Moon, RotateCw, Send } from "lucide-react";
import { Link } from "wouter";
import { links } from "../../../links.ts";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { useNow } from "../../../parts/use-now.ts";
import { useQuery } from "../../../use-query.ts";
import { whenOver } from "../../../words/common.ts";
import { counted } from "../../../words/numbers.ts";
import { isEnded } from "../../../words/statuses.ts";
import { spokenClock, spokenExact, spokenTime } from "../../../words/time.ts";
import { allowedActions } from "../actions/allowed.ts";
import { useManage } from "../actions/use-manage.ts";
import type { Live } from "../live.ts";
import { type Wait, waitsOf } from "./waits.ts";

const shownMax = 4;
const icons = { sleep: Moon, event: Hourglass, topic: Hourglass, retry: RotateCw } as const;

export function WaitsPanel({ live }: { readonly live: Live }) {
  const { value, access, instance } = live;
  const { status } = value.details;
  const manage = useManage();
  const waits = isEnded(status) ? [] : waitsOf(value.steps);
  const nextSleep = waits.find(({ kind }) => kind === "sleep");
  const maySkip = access.management && allowedActions(status, value.steps, null).has("skipSleep");
  const skip = (): void => void manage.run("skip", "The sleep was skipped.", () => instance.skipSleep());
  if (waits.length === 0) return null;
  return (
    <div className="stack close">
      <ul className="waits">
        {waits.slice(0, shownMax).map((wait) => (
          <li key={wait.step.stepKey}>
            <WaitLine wait={wait} />
            <Countdown wait={wait} isPaused={status === "paused"} />
            <span className="wait-act">
              {wait === nextSleep && maySkip && (
                <button
                  type="button"
                  className="tiny"
                  disabled={manage.busy !== null || live.isStale}
                  onClick={skip}
                >
                  <FastForward aria-hidden />
                  {manage.busy === null ? "Skip sleep" : "Skipping …"}
                </button>
              )}
              {wait.kind === "event" && access.sendEvent && <SendLink type={wait.what ?? ""} />}
              {wait.kind === "topic" && (
                <Link className="button tiny" href={links.topics({ topic: wait.what })}>
                  Show topic
                </Link>
              )}
            </span>
          </li>
        ))}
        {waits.length > shownMax && (
          <li className="dim">and {counted(waits.length - shownMax, "more wait")}</li>
        )}
      </ul>
      {manage.problem && <ProblemNotice problem={manage.problem} />}
    </div>
  );
}

function WaitLine({ wait }: { readonly wait: Wait }) {
  const query = useQuery();
  const { kind, step, what } = wait;
  const Icon = icons[kind];
  const failure = kind === "retry" ? step.errors.at(-1) : undefined;
  return (
    <p className="wait">
      <Icon aria-hidden />
      <span>
        <Link href={query.href({ tab: null, run: null, with: null, step: step.index })}>{step.name}</Link>{" "}
        {kind === "sleep" && "sleeps"}
        {kind === "retry" && `failed, attempt ${step.attempts + 1}${ofMost(step.maxAttempts)} follows`}
        {kind === "event" && (
          <>
            waits for event <code>{what}</code>
          </>
        )}
        {kind === "topic" && (
          <>
            waits for topic <code>{what}</code>
          </>
        )}
        {failure && (
          <span className="wait-error">
            {failure.name}: {failure.message}
          </span>
        )}
      </span>
    </p>
  );
}

/** How long still, and until when. */
function Countdown({ wait, isPaused }: { readonly wait: Wait; readonly isPaused: boolean }) {
  const now = useNow();
  const { until, kind } = wait;
  if (until === null) return <span className="wait-until" />;
  return (
    <time className="wait-until" dateTime={new Date(until).toISOString()} title={spokenTime(until)}>
      {until > now ? (
        <>
          <span className="small dim">{whenOver[kind]} in </span>
          <span className="countdown">{spokenClock(until - now)}</span>
          <span className="small dim"> at {spokenExact(until, now)}</span>
        </>
      ) : (
        <span className="countdown">{isPaused ? "over, goes on when resumed" : `${whenOver[kind]} now`}</span>
      )}
    </time>
  );
}

function ofMost(most: number | null): string {
  return most === null ? "" : ` of ${most}`;
}

function SendLink({ type }: { readonly type: string }) {
  const query = useQuery();
  return (
    <Link
      className="button tiny"
      href={query.href({ tab: "events", step: null, run: null, with: null, type })}
    >
      <Send aria-hidden />
      Send event
    </Link>
  );
}
