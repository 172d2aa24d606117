/** How the workflow has done lately: success, durations, a trend, and its newest instances. */
import type {} from "everstep/client";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Pending } from "../../parts/pending.tsx";
import { Status } from "../../parts/status.tsx";
import { When } from "../../parts/when.tsx";
import { counted } from "../../words/numbers.ts";
import { isEnded } from "../../words/statuses.ts";
import { spokenDuration } from "../../words/time.ts";
import { type Recent, recentOf, spokenRate, tookMs } from "./recent.ts";

const lookedAt = 100;
const shownMax = 8;

export function RecentPanel({ workflowName }: { readonly workflowName: string }) {
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    name: `recent ${workflowName}`,
    load: async (signal) => {
      const terms = { pageSize: lookedAt, brief: true, meta: true, signal } as const;
      return (await client.workflow(workflowName).list(terms)).instances;
    },
    everyMs: 5000,
  });
  const recent = value && recentOf(value);
  return (
    <Panel
      title="Recent instances"
      end={<Link href={links.instances({ workflow: workflowName })}>All instances</Link>}
      flush
    >
      <Pending isThere={value !== undefined} problem={problem} again={reload} rows={4} />
      {value?.length === 0 && <Empty title="No instances yet" />}
      {recent && value.length > 0 && (
        <>
          <Numbers recent={recent} />
          <Trend recent={recent} workflowName={workflowName} />
          <ul className="entries">
            {value.slice(0, shownMax).map((instance) => (
              <li key={instance.id}>
                <Link href={links.instance({ workflowName, instanceId: instance.id })} className="entry-link">
                  <span className="recent-name">
                    <Status status={instance.details.status} />
                    <span className="mono clip" title={instance.id}>
                      {instance.id}
                    </span>
                  </span>
                  <span className="small dim no-wrap">
                    {isEnded(instance.details.status) && `${spokenDuration(tookMs(instance))}, `}
                    <When at={instance.meta.createdAt} isShort />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

function Numbers({ recent: { ended, successRate, p50, p95 } }: { readonly recent: Recent }) {
  const facts = [
    ["Success", spokenRate(successRate)],
    ["p50 duration", p50 === null ? "–" : spokenDuration(p50)],
    ["p95 duration", p95 === null ? "–" : spokenDuration(p95)],
  ] as const;
  return (
    <div className="recent-numbers">
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="small dim">
        of the newest {counted(ended, "instance")} that ended; success leaves out terminated ones
      </p>
    </div>
  );
}

/** A bar for each that ended, the newest at the right. */
function Trend({
  recent: { bars },
  workflowName,
}: {
  readonly recent: Recent;
  readonly workflowName: string;
}) {
  if (bars.length < 2) return null;
  const failed = bars.filter(({ status }) => status === "errored").length;
  return (
    <div
      className="recent-trend"
      role="img"
      aria-label={`Durations of the last ${bars.length} of ${workflowName}, oldest first; ${failed} failed.`}
    >
      {bars.map(({ id, status, tookMs: took, height }) => (
        <span
          key={id}
          className={`is-${status}`}
          style={{ height: `${height * 100}%` }}
          title={`${id}: ${status}, ${spokenDuration(took)}`}
        />
      ))}
    </div>
  );
}
