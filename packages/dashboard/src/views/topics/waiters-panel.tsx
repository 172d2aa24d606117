import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { usePages } from "../../api/use-pages.ts";
import { links } from "../../links.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Empty } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { MoreButton, Pending } from "../../parts/pending.tsx";
import { When } from "../../parts/when.tsx";
import { Wide } from "../../parts/wide.tsx";
import { headed, whenOver } from "../../words/common.ts";

const pageSize = 100;

export function WaitersPanel({ topic }: { readonly topic: string }) {
  const { client } = useSession();
  const { items, isMore, more, problem, reload } = usePages({
    name: `waiters ${topic}`,
    read: async (page) => {
      const { waiters, ...end } = await client.waiters(topic, { pageSize, ...page });
      return { items: waiters, ...end };
    },
    everyMs: 3000,
  });
  return (
    <Panel title={<Copyable text={topic} what="topic" />} flush>
      <Pending isThere={items !== undefined} problem={problem} again={reload} rows={3} />
      {items?.length === 0 && (
        <Empty title="No subscribers">What is published reaches those who wait at that time only.</Empty>
      )}
      {items && items.length > 0 && (
        <Wide label="Waiters">
          <table className="plain cards">
            <thead>
              <tr>
                <th>Instance</th>
                <th>Workflow</th>
                <th>Step</th>
                <th>{headed(whenOver.topic)}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((waiter) => (
                <tr key={`${waiter.workflowName}/${waiter.instanceId}/${waiter.stepKey}`}>
                  <td>
                    <Link href={links.instance(waiter)} className="mono" title={waiter.instanceId}>
                      {waiter.instanceId}
                    </Link>
                  </td>
                  <td data-label="Workflow">{waiter.workflowName}</td>
                  <td data-label="Step">
                    <span className="mono">{waiter.stepKey}</span>
                  </td>
                  <td data-label={headed(whenOver.topic)}>
                    <span>{waiter.hasEvent ? "has its event" : <When at={waiter.deadlineAt} />}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
      <MoreButton isMore={isMore} more={more} />
    </Panel>
  );
}
