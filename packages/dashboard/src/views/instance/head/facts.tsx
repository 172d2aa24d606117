/** When, how long, whose. */
import type { WireMeta } from "everstep/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { links } from "../../../links.ts";
import { useNow } from "../../../parts/use-now.ts";
import { When } from "../../../parts/when.tsx";
import { useQuery } from "../../../use-query.ts";
import { isEnded } from "../../../words/statuses.ts";
import { spokenDuration, timeOf } from "../../../words/time.ts";
import type { Live } from "../live.ts";

export function Facts({ live }: { readonly live: Live }) {
  const { meta, details } = live.value;
  const { lastAction } = live.why.why ?? {};
  const query = useQuery();
  const hasEnded = isEnded(details.status);
  const isSaid = lastAction !== undefined && saidAbove[details.status] === lastAction.action;
  return (
    <dl className="instance-facts">
      <Fact name="Run">
        <Link href={query.href({ tab: "runs", step: null, run: null, with: null })}>{meta.runNumber}</Link>
      </Fact>
      <Fact name="Created">
        <When at={meta.createdAt} />
      </Fact>
      <Fact name="Started">
        <When at={meta.startedAt} />
      </Fact>
      {hasEnded && meta.completedAt !== null && (
        <Fact name="Ended">
          <When at={meta.completedAt} />
        </Fact>
      )}
      {meta.startedAt !== null && (
        <Fact name={hasEnded ? "Took" : "Running for"}>
          <Took meta={meta} stillAt={live.staleSince} />
        </Fact>
      )}
      {meta.deadlineAt !== null && (
        <Fact name="Deadline">
          <When at={meta.deadlineAt} />
        </Fact>
      )}
      {meta.retentionUntil !== null && (
        <Fact name="Kept until">
          <When at={meta.retentionUntil} />
        </Fact>
      )}
      {lastAction && !isSaid && (
        <Fact name="Last action">
          {lastAction.text.replace(/\.$/, "")}{" "}
          <span className="dim">
            <When at={lastAction.at} />
          </span>
        </Fact>
      )}
      {meta.parent && (
        <Fact name="Parent">
          <Link href={links.instance(meta.parent)} className="mono">
            {meta.parent.workflowName} / {meta.parent.instanceId}
          </Link>
        </Fact>
      )}
    </dl>
  );
}

/** Of these the first line tells already who did it, and when. */
const saidAbove: Readonly<Record<string, string>> = { paused: "pause", terminated: "terminate" };

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** How long a run took, or has been at it. */
export function Took({
  meta,
  stillAt = null,
}: {
  readonly meta: Pick<WireMeta, "startedAt" | "completedAt">;
  /** Since then nothing was heard of it. */
  readonly stillAt?: number | null;
}) {
  const clock = useNow(stillAt === null);
  const now = stillAt ?? clock;
  if (meta.startedAt === null) return <span className="dim">–</span>;
  const end = meta.completedAt === null ? now : timeOf(meta.completedAt);
  return <>{spokenDuration(Math.max(0, end - timeOf(meta.startedAt)))}</>;
}
