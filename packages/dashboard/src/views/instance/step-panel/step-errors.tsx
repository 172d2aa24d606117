/** Every failed attempt, the newest first. */
import type { WireAttemptError, WireError, WireStep } from "everstep/client";
import { useId, useState } from "react";
import { CopyButton } from "../../../parts/copy.tsx";
import { When } from "../../../parts/when.tsx";
import { counted } from "../../../words/numbers.ts";
import { StackText } from "../head/stack-text.tsx";

const shownAtFirst = 5;

export function StepErrors({ step }: { readonly step: WireStep }) {
  const [isAll, setAll] = useState(false);
  const id = useId();
  const failed = step.errors.toReversed();
  // A wait that timed out has failed without an attempt.
  if (failed.length === 0 && !step.error) return null;
  const shown = isAll ? failed : failed.slice(0, shownAtFirst);
  const forgotten = step.attempts - step.errors.length - (step.status === "completed" ? 1 : 0);
  return (
    <section className="stack close" aria-labelledby={id}>
      <h3 id={id}>{failed.length === 0 ? "Error" : counted(failed.length, "failed attempt")}</h3>
      <ol className="stack close">
        {failed.length === 0 && step.error && <AttemptError error={step.error} isOpen />}
        {shown.map((error, n) => (
          <AttemptError key={error.attempt} error={error} attempt={error} isOpen={n === 0} />
        ))}
      </ol>
      {shown.length < failed.length && (
        <button type="button" className="tiny" onClick={() => setAll(true)}>
          Show {failed.length - shown.length} earlier
        </button>
      )}
      {forgotten > 0 && (
        <p className="small dim">The errors of {counted(forgotten, "earlier attempt")} are no longer kept.</p>
      )}
    </section>
  );
}

function AttemptError({
  error,
  attempt,
  isOpen,
}: {
  readonly error: WireError;
  readonly attempt?: WireAttemptError;
  readonly isOpen: boolean;
}) {
  return (
    <li className="step-error">
      <div className="step-error-head">
        <strong>
          <bdi>{error.name}</bdi>
        </strong>
        {error.code !== undefined && <code className="small">{error.code}</code>}
        <span className="end small dim">
          {attempt && (
            <>
              attempt {attempt.attempt}, <When at={attempt.at} />
            </>
          )}
        </span>
        <CopyButton text={() => textOf(error)} what="the error" />
      </div>
      <p className="step-error-message">{error.message}</p>
      {error.stack && <StackText stack={error.stack} isOpen={isOpen} />}
      {attempt?.retryAt && (
        <p className="small dim">
          The next attempt was due <When at={attempt.retryAt} />.
        </p>
      )}
    </li>
  );
}

function textOf({ name, message, code, stack }: WireError): string {
  return stack ?? `${name}${code === undefined ? "" : ` (${code})`}: ${message}`;
}
