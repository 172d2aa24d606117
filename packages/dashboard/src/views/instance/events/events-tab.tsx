import type { WireEvent } from "everstep/client";
import { Link } from "wouter";
import { links } from "../../../links.ts";
import { CopyButton } from "../../../parts/copy.tsx";
import { JsonTree } from "../../../parts/json-tree.tsx";
import { Empty, ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { When } from "../../../parts/when.tsx";
import { useQuery } from "../../../use-query.ts";
import { isEnded } from "../../../words/statuses.ts";
import { EarlierRunNotice } from "../earlier-run-notice.tsx";
import type { Live } from "../live.ts";
import { useWhichRun } from "../which-run.ts";
import { SendEventForm } from "./send-event-form.tsx";
import { useEvents } from "./use-events.ts";

export function EventsTab({ live }: { readonly live: Live }) {
  const run = useWhichRun(live);
  const { value, problem, reload, more } = useEvents(live, run);
  const maySend = run === null && live.access.sendEvent && !isEnded(live.value.details.status);
  return (
    <>
      {run !== null && <EarlierRunNotice run={run} current={live.value.meta.runNumber} />}
      <div className={maySend ? "events-tab with-form" : "events-tab"}>
        <div className="stack">
          {problem && <ProblemNotice problem={problem} again={reload} />}
          {!value && !problem && <Bones rows={4} height={32} />}
          {value?.events.length === 0 && (
            <Empty title="No events yet">
              {maySend ? "Events that are sent to this instance are shown here, taken or not." : null}
            </Empty>
          )}
          {value && value.events.length > 0 && (
            <ul className="stack" aria-label="Events">
              {value.events.map((event) => (
                <li key={event.id}>
                  <EventPanel event={event} live={live} run={run} />
                </li>
              ))}
            </ul>
          )}
          {value?.hasMore && (
            <button type="button" onClick={more}>
              Earlier events
            </button>
          )}
        </div>
        {maySend && <SendEventForm live={live} onSent={reload} />}
      </div>
    </>
  );
}

function EventPanel({
  event,
  live,
  run,
}: {
  readonly event: WireEvent;
  readonly live: Live;
  readonly run: number | null;
}) {
  const isTaken = event.consumedByStepKey !== null;
  return (
    <Panel
      title={<EventTitle event={event} />}
      end={
        <>
          <span className={isTaken ? "status is-complete" : "status is-waiting"}>
            {isTaken ? "taken" : "kept, not taken yet"}
          </span>
          <span className="small dim">
            sent <When at={event.createdAt} />
          </span>
        </>
      }
    >
      <div className="stack close">
        {isTaken && <TakenBy event={event} live={live} run={run} />}
        <JsonTree value={event.payload} what="the payload" />
        <p className="small dim clip event-id" title={event.id}>
          Id <code>{event.id}</code> <CopyButton text={event.id} what="the id of the event" />
        </p>
      </div>
    </Panel>
  );
}

function EventTitle({ event: { type, topic } }: { readonly event: WireEvent }) {
  if (topic !== null) {
    return (
      <>
        topic <Link href={links.topics({ topic })}>{topic}</Link>
      </>
    );
  }
  // The engine's own: it has neither.
  return type === null ? "a sleep was skipped" : <code>{type}</code>;
}

function TakenBy({
  event,
  live,
  run,
}: {
  readonly event: WireEvent;
  readonly live: Live;
  readonly run: number | null;
}) {
  const query = useQuery();
  const key = event.consumedByStepKey;
  const step = run === null ? live.value.steps.find(({ stepKey }) => stepKey === key) : undefined;
  return (
    <p className="small">
      Taken by{" "}
      {step ? (
        <Link href={query.href({ tab: null, type: null, step: step.index })}>{step.name}</Link>
      ) : (
        <code>{key}</code>
      )}{" "}
      {event.deliveredAt !== null && <When at={event.deliveredAt} />}
    </p>
  );
}
