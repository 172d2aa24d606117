import "../../look/topics.css";
import type { WireTopics } from "everstep/client";
import { useState } from "react";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Empty, ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Bones } from "../../parts/skeleton.tsx";
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
  const [pages, setPages] = useState(1);
  const { value, problem, reload } = useLoaded({
    name: `topics ${pages}`,
    load: async (signal) => {
      const topics: WireTopics["topics"][number][] = [];
      let cursor: string | undefined;
      let isMore = false;
      for (let page = 0; page < pages; page++) {
        const answer = await client.topics({ pageSize, cursor, signal });
        topics.push(...answer.topics);
        cursor = answer.cursor;
        isMore = answer.hasNextPage;
        if (!isMore) break;
      }
      return { topics, isMore };
    },
    everyMs: 3000,
  });
  return (
    <Panel title="Topics that are waited on" flush>
      {problem && (
        <div className="inside">
          <ProblemNotice problem={problem} again={reload} />
        </div>
      )}
      {!value && !problem && (
        <div className="inside">
          <Bones rows={4} />
        </div>
      )}
      {value?.topics.length === 0 && (
        <Empty title="Nobody waits on a topic.">
          <span>
            A workflow does with <code>step.waitForEvent("opening", {'{ topic: "warehouse.open" }'})</code>.
          </span>
        </Empty>
      )}
      <ul className="entries">
        {value?.topics.map(({ topic, waiters }) => (
          <li key={topic}>
            <Link
              href={links.topics({ topic })}
              className="entry-link"
              aria-current={topic === selected ? "true" : undefined}
            >
              <span className="mono clip">{topic}</span>
              <span className="small dim">{counted(waiters, "waiter")}</span>
            </Link>
          </li>
        ))}
      </ul>
      {value?.isMore && (
        <div className="inside">
          <button type="button" onClick={() => setPages(pages + 1)}>
            Show more
          </button>
        </div>
      )}
    </Panel>
  );
}
