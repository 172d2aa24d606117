import "../../look/topics.css";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { usePages } from "../../api/use-pages.ts";
import { links } from "../../links.ts";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { MoreButton, Pending } from "../../parts/pending.tsx";
import { useQuery } from "../../use-query.ts";
import { counted } from "../../words/numbers.ts";
import { PublishForm } from "./publish-form.tsx";
import { WaitersPanel } from "./waiters-panel.tsx";

const pageSize = 100;

export function TopicsView() {
  const { access } = useSession();
  const query = useQuery();
  const topic = query.get("topic");
  return (
    <>
      <div className="head">
        <h1>Topics</h1>
        <span className="dim">
          Names that many instances may wait on. A publication makes one event for each that waits now.
        </span>
      </div>
      <div className="topics">
        <TopicsPanel selected={topic} />
        <div className="stack">
          {topic !== null && <WaitersPanel key={topic} topic={topic} />}
          {access.sendEvent && <PublishForm key={topic ?? ""} topic={topic ?? ""} />}
        </div>
      </div>
    </>
  );
}

function TopicsPanel({ selected }: { readonly selected: string | null }) {
  const { client } = useSession();
  const { items, isMore, more, problem, reload } = usePages({
    name: "topics",
    read: async (page) => {
      const { topics, ...end } = await client.topics({ pageSize, ...page });
      return { items: topics, ...end };
    },
    everyMs: 3000,
  });
  return (
    <Panel title="Topics that are waited on" flush>
      <Pending isThere={items !== undefined} problem={problem} again={reload} rows={4} />
      {items?.length === 0 && !isMore && (
        <Empty title="No subscribers on any topic">
          <span>
            A workflow subscribes to a topic with{" "}
            <code>step.waitForEvent("opening", {'{ topic: "warehouse.open" }'})</code>.
          </span>
        </Empty>
      )}
      <ul className="entries">
        {items?.map(({ topic, waiters }) => (
          <li key={topic}>
            <Link
              href={links.topics({ topic })}
              className="entry-link"
              aria-current={topic === selected ? "true" : undefined}
            >
              <span className="mono clip" title={topic}>
                {topic}
              </span>
              <span className="small dim">{counted(waiters, "waiter")}</span>
            </Link>
          </li>
        ))}
      </ul>
      <MoreButton isMore={isMore} more={more} />
    </Panel>
  );
}
