/** Why it failed: the error, where the author's code threw it, and the way to the step. */
import type { WireStep } from "everstep/client";
import { CircleX } from "lucide-react";
import { Link } from "wouter";
import { CopyButton } from "../../../parts/copy.tsx";
import { useQuery } from "../../../use-query.ts";
import { ownFrame } from "../../../words/common.ts";
import type { Live } from "../live.ts";
import { failedStep } from "./failed-step.ts";
import { StackText } from "./stack-text.tsx";

export function ErrorPanel({ live }: { readonly live: Live }) {
  const { details, steps } = live.value;
  const { why } = live.why;
  const query = useQuery();
  const { error } = details;
  const step = failedStep(steps, error, why);
  const frame = ownFrame(error?.stack);
  return (
    <section className="error-panel" aria-label="Why it failed">
      <div className="error-panel-head">
        <CircleX aria-hidden />
        <p>
          <strong>
            <bdi>{error?.name ?? "Error"}</bdi>
          </strong>{" "}
          {error?.code && <code className="small">{error.code}</code>}
        </p>
        {error && <CopyButton text={error.stack ?? `${error.name}: ${error.message}`} what="the error" />}
      </div>
      <p className="error-message">{error?.message ?? "The error was not recorded."}</p>
      {frame && <p className="error-frame mono small">{frame}</p>}
      <div className="error-panel-end">
        {step && (
          <>
            <Link
              className="button tiny"
              href={query.href({ tab: null, run: null, with: null, step: step.index })}
            >
              Open step
            </Link>
            <span>
              <bdi className="mono">{step.name}</bdi>
              {step.type === "do" && <span className="dim">, attempt {attemptText(step)}</span>}
            </span>
          </>
        )}
        {why && <span className="dim">{adviceOf(why.mayRetry ?? false, why.advice)}</span>}
      </div>
      {error?.stack && <StackText stack={error.stack} />}
    </section>
  );
}

function attemptText({ attempts, maxAttempts }: WireStep): string {
  return maxAttempts === null ? String(attempts) : `${attempts} of ${maxAttempts}`;
}

function adviceOf(mayRetry: boolean, advice: string | null): string {
  if (mayRetry) return "Retry the failed step once the cause is gone, or restart the instance.";
  return advice ?? "";
}
