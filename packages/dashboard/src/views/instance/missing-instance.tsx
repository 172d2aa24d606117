/** There is no such instance, or no code for its workflow: what can be said all the same. */
import { Link } from "wouter";
import type { Problem } from "../../api/problem.ts";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { type InstanceAddress, links } from "../../links.ts";
import { JsonTree } from "../../parts/json-tree.tsx";
import { Empty, Notice, ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Status } from "../../parts/status.tsx";
import { When } from "../../parts/when.tsx";

const notThere = ["INSTANCE_NOT_FOUND", "INVALID_INSTANCE_ID", "INVALID_WORKFLOW_NAME", "ROUTE_NOT_FOUND"];

export function MissingInstance({
  address,
  problem,
}: {
  readonly address: InstanceAddress;
  readonly problem: Problem;
}) {
  if (problem.code === "WORKFLOW_NOT_FOUND") return <OfUnknownWorkflow {...address} />;
  return (
    <>
      <h1 className="mono instance-id">{address.instanceId}</h1>
      {notThere.includes(problem.code) ? <NotThere {...address} /> : <ProblemNotice problem={problem} />}
    </>
  );
}

function NotThere({ workflowName, instanceId }: InstanceAddress) {
  return (
    <Empty title="There is no such instance.">
      <p>
        Workflow <code>{workflowName}</code> has no instance <code>{instanceId}</code>. It may have been
        pruned, or the address has a mistake.
      </p>
      <Link href={links.instances({ workflow: workflowName })}>Instances of this workflow</Link>
    </Empty>
  );
}

/** How far it is looked for. */
const pagesMax = 10;

function OfUnknownWorkflow({ workflowName, instanceId }: InstanceAddress) {
  const { client } = useSession();
  const { value, problem } = useLoaded({
    name: `${workflowName}/${instanceId}`,
    everyMs: 5000,
    load: async (signal) => {
      const terms = { idPrefix: instanceId, pageSize: 100, brief: false, signal };
      let cursor: string | undefined;
      // Pages with params may be short.
      for (let page = 0; page < pagesMax; page++) {
        const { instances, cursor: next } = await client.instances({ ...terms, cursor });
        const found = instances.find(
          ({ id, meta }) => id === instanceId && meta.workflowName === workflowName,
        );
        if (found || next === undefined) return found ?? null;
        cursor = next;
      }
      return null;
    },
  });
  return (
    <>
      <div className="head">
        <h1 className="mono instance-id">{instanceId}</h1>
        {value && <Status status={value.details.status} />}
      </div>
      <Notice tone="warn">
        No code for workflow <code>{workflowName}</code> is registered in the process that answered, so this
        is all that can be told of it. Deploy the workflow again, or look at{" "}
        <Link href={links.workflows}>the workflows that are here</Link>.
      </Notice>
      {problem && <ProblemNotice problem={problem} />}
      {value === null && (
        <Empty title="There is no such instance.">
          <Link href={links.instances()}>All instances</Link>
        </Empty>
      )}
      {value && (
        <Panel title="What is known">
          <dl className="facts">
            <dt>Run</dt>
            <dd>{value.meta.runNumber}</dd>
            <dt>Created</dt>
            <dd>
              <When at={value.meta.createdAt} />
            </dd>
            <dt>Last changed</dt>
            <dd>
              <When at={value.meta.updatedAt} />
            </dd>
            <dt>Params</dt>
            <dd>
              <JsonTree value={value.meta.params} what="the params" />
            </dd>
          </dl>
        </Panel>
      )}
    </>
  );
}
