import type { WireWaiters } from "everstep/client";
import { useState } from "react";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Empty, ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Bones } from "../../parts/skeleton.tsx";
import { When } from "../../parts/when.tsx";
import { Wide } from "../../parts/wide.tsx";

const pageSize = 100;

export function WaitersPanel({ topic }: { readonly topic: string }) {
  const { client } = useSession();
  const [pages, setPages] = useState(1);
  const { value, problem, reload } = useLoaded({
    name: `waiters ${pages} ${topic}`,
    load: async (signal) => {
      const waiters: WireWaiters["waiters"][number][] = [];
      let page = await client.waiters(topic, { pageSize, signal });
      waiters.push(...page.waiters);
      while (page.hasNextPage && waiters.length < pages * pageSize) {
        page = await client.waiters(topic, { pageSize, cursor: page.cursor, signal });
        waiters.push(...page.waiters);
      }
      return { waiters, isMore: page.hasNextPage };
    },
    everyMs: 3000,
  });
  return (
    <Panel title={<Copyable text={topic} what="topic" />} flush>
      {problem && (
        <div className="inside">
          <ProblemNotice problem={problem} again={reload} />
        </div>
      )}
      {!value && !problem && (
        <div className="inside">
          <Bones rows={3} />
        </div>
      )}
      {value?.waiters.length === 0 && (
        <Empty title="Nobody waits on it now.">
          What is published reaches those who wait at that time only.
        </Empty>
      )}
      {value && value.waiters.length > 0 && (
        <Wide label="Waiters">
          <table className="plain">
            <thead>
              <tr>
                <th>Instance</th>
                <th>Workflow</th>
                <th>Step</th>
                <th>Waits until</th>
              </tr>
            </thead>
            <tbody>
              {value.waiters.map((waiter) => (
                <tr key={`${waiter.workflowName}/${waiter.instanceId}/${waiter.stepKey}`}>
                  <td>
                    <Link href={links.instance(waiter)} className="mono">
                      {waiter.instanceId}
                    </Link>
                  </td>
                  <td>{waiter.workflowName}</td>
                  <td className="mono">{waiter.stepKey}</td>
                  <td>
                    <When at={waiter.deadlineAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
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
