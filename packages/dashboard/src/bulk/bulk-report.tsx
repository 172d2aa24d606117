import { Square, X } from "lucide-react";
import { Link } from "wouter";
import { links } from "../links.ts";
import { counted, spokenNumber } from "../words/numbers.ts";
import { handledOf, type Refusals } from "./bulk.ts";
import type { Bulk } from "./use-bulk.ts";

export function BulkReport({
  bulk: { action, progress },
  stop,
  dismiss,
}: {
  readonly bulk: Bulk;
  readonly stop: () => void;
  readonly dismiss: () => void;
}) {
  const { total, done, refused, state } = progress;
  const handled = handledOf(progress);
  const isRunning = state === "running";
  const was = done === 1 ? "was" : "were";
  return (
    <section className="bulk-report" aria-label={isRunning ? "Progress" : "Summary"}>
      <div className="buttons">
        <strong>
          {isRunning
            ? `${action.words}: ${spokenNumber(handled)} of ${spokenNumber(total)}`
            : `${counted(done, "instance")} ${was} ${action.done}.`}
        </strong>
        {state === "stopped" && (
          <span className="dim">Stopped; {counted(total - handled, "instance")} left alone.</span>
        )}
        <span className="end">
          {isRunning ? (
            <button type="button" className="tiny" onClick={stop}>
              <Square aria-hidden />
              Stop
            </button>
          ) : (
            <button type="button" className="quiet tiny" onClick={dismiss}>
              <X aria-hidden />
              Dismiss
            </button>
          )}
        </span>
      </div>
      {isRunning && (
        <div
          className="progress"
          role="progressbar"
          aria-label={action.words}
          aria-valuenow={handled}
          aria-valuemin={0}
          aria-valuemax={total}
        >
          <div style={{ width: `${(handled / Math.max(1, total)) * 100}%` }} />
        </div>
      )}
      {refused.map((each) => (
        <RefusedOnes key={each.code} refusals={each} />
      ))}
      <span className="for-readers" role="status">
        {isRunning ? "" : `${counted(done, "instance")} ${was} ${action.done}, ${total - done} not.`}
      </span>
    </section>
  );
}

const shownMax = 50;

function RefusedOnes({ refusals: { code, message, instances } }: { readonly refusals: Refusals }) {
  return (
    <details className="refused" open={instances.length <= 5}>
      <summary>
        {counted(instances.length, "instance")} refused <code>{code}</code>
      </summary>
      <p className="small">{message}</p>
      <p className="refused-links small">
        {instances.slice(0, shownMax).map((instance) => (
          <Link key={links.instance(instance)} href={links.instance(instance)} className="mono">
            {instance.instanceId}
          </Link>
        ))}
        {instances.length > shownMax && (
          <span className="dim">and {counted(instances.length - shownMax, "other")}</span>
        )}
      </p>
    </details>
  );
}
