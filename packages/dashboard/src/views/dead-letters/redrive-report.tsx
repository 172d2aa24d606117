import { Link } from "wouter";
import { links } from "../../links.ts";
import { Notice } from "../../parts/notice.tsx";
import { counted, spokenNumber } from "../../words/numbers.ts";
import type { Redrive } from "./use-redrive.ts";

export function RedriveReport({
  redrive: { total, outcomes, isBusy },
  stop,
  clear,
}: {
  readonly redrive: Redrive;
  readonly stop: () => void;
  readonly clear: () => void;
}) {
  const refused = outcomes.filter(({ problem }) => problem !== null);
  const done = outcomes.length - refused.length;
  if (isBusy) {
    return (
      <Notice
        action={
          <button type="button" className="tiny" onClick={stop}>
            Stop
          </button>
        }
      >
        <div className="stack close">
          <span>
            {spokenNumber(outcomes.length)} of {counted(total, "dead letter")} redriven
          </span>
          <progress className="for-readers" max={total} value={outcomes.length} />
          <div className="progress" aria-hidden>
            <div style={{ width: `${(outcomes.length / total) * 100}%` }} />
          </div>
        </div>
      </Notice>
    );
  }
  return (
    <Notice
      tone={refused.length > 0 ? "warn" : "good"}
      action={
        <button type="button" className="tiny" onClick={clear}>
          Dismiss
        </button>
      }
    >
      <p>
        {counted(done, "instance")} got another chance
        {outcomes.length < total && `, ${total - outcomes.length} were left`}
        {refused.length > 0 && `; ${refused.length} could not:`}
      </p>
      <ul>
        {refused.slice(0, 20).map(({ item, problem }) => (
          <li key={`${item.meta.workflowName}/${item.id}`}>
            <Link
              href={links.instance({ workflowName: item.meta.workflowName, instanceId: item.id })}
              className="mono"
            >
              {item.id}
            </Link>
            : {problem?.message} <code className="small">{problem?.code}</code>
          </li>
        ))}
      </ul>
    </Notice>
  );
}
