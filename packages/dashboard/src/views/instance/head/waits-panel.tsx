/** What it waits for, how long still, and the way to cut that short. */
import { FastForward, Hourglass, Moon, RotateCw, Send } from "lucide-react";
import { Link } from "wouter";
import { links } from "../../../links.ts";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { useNow } from "../../../parts/use-now.ts";
import { useQuery } from "../../../use-query.ts";
import { counted } from "../../../words/numbers.ts";
import { isEnded } from "../../../words/statuses.ts";
import { spokenClock, spokenTime } from "../../../words/time.ts";
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
            <WaitLine wait={wait} isPaused={status === "paused"} />
            {wait === nextSleep && maySkip && (
              <button type="button" className="tiny" disabled={manage.busy !== null} onClick={skip}>
                <FastForward aria-hidden />
                {manage.busy === null ? "Skip the sleep" : "Skipping …"}
              </button>
            )}
            {wait.kind === "event" && access.sendEvent && <SendLink type={wait.what ?? ""} />}
            {wait.kind === "topic" && (
              <Link className="button tiny" href={links.topics({ topic: wait.what })}>
                Show the topic
              </Link>
            )}
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

function WaitLine({ wait, isPaused }: { readonly wait: Wait; readonly isPaused: boolean }) {
  const query = useQuery();
  const now = useNow();
  const { kind, step, what, until } = wait;
  const Icon = icons[kind];
  return (
    <span className="wait">
      <Icon aria-hidden />
      <span>
        <Link href={query.href({ tab: null, run: null, with: null, step: step.index })}>{step.name}</Link>{" "}
        {kind === "sleep" && "sleeps"}
        {kind === "retry" && `is tried again (attempt ${step.attempts + 1}${ofMost(step.maxAttempts)})`}
        {kind === "event" && (
          <>
            waits for an event of type <code>{what}</code>
          </>
        )}
        {kind === "topic" && (
          <>
            waits for a publication to <code>{what}</code>
          </>
        )}
      </span>
      {until !== null && (
        <time
          className="countdown"
          dateTime={new Date(until).toISOString()}
          title={`Until ${spokenTime(until)}`}
        >
          {until > now ? spokenClock(until - now) : isPaused ? "over, goes on when resumed" : "due now"}
        </time>
      )}
    </span>
  );
}

function ofMost(most: number | null): string {
  return most === null ? "" : ` of at most ${most}`;
}

function SendLink({ type }: { readonly type: string }) {
  const query = useQuery();
  return (
    <Link
      className="button tiny"
      href={query.href({ tab: "events", step: null, run: null, with: null, type })}
    >
      <Send aria-hidden />
      Send this event
    </Link>
  );
}
