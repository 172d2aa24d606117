import { Link } from "wouter";
import { links } from "../../../links.ts";
import { Copyable } from "../../../parts/copy.tsx";
import { Status } from "../../../parts/status.tsx";
import { isEnded } from "../../../words/statuses.ts";
import { ActionBar } from "../actions/action-bar.tsx";
import type { Live } from "../live.ts";
import { Facts } from "./facts.tsx";
import { Lead } from "./lead.tsx";

export function InstanceHead({ live }: { readonly live: Live }) {
  const { workflowName, instanceId } = live.address;
  const { details, meta } = live.value;
  return (
    <header className="instance-head stack">
      <div className="instance-top">
        <div className="stack">
          <div className="who stack close">
            <nav className="crumbs small" aria-label="Where this is">
              <Link href={links.instances()}>Instances</Link>
              <span aria-hidden>/</span>
              <Link href={links.workflow(workflowName)}>{workflowName}</Link>
            </nav>
            <div className="head">
              <h1 className="instance-id">
                <Copyable text={instanceId} what="the id" />
              </h1>
              <Status status={details.status} />
              {meta.deadLetter && (
                <Link
                  href={links.deadLetters()}
                  className="status is-errored"
                  title="The engine gave up on it."
                >
                  dead letter
                </Link>
              )}
              <LiveDot isStale={live.isStale} hasEnded={isEnded(details.status)} />
            </div>
          </div>
          <Lead live={live} />
        </div>
        <ActionBar live={live} />
      </div>
      <Facts live={live} />
    </header>
  );
}

/** Whether what is seen is what is. Of what has ended nothing is expected any more. */
function LiveDot({ isStale, hasEnded }: { readonly isStale: boolean; readonly hasEnded: boolean }) {
  if (hasEnded && !isStale) return null;
  return (
    <span
      className={isStale ? "live-dot is-stale" : "live-dot"}
      role="status"
      title={
        isStale
          ? "The connection dropped and is being made again. What is shown may be old."
          : "What is shown changes by itself."
      }
    >
      {isStale ? "reconnecting" : "live"}
    </span>
  );
}
