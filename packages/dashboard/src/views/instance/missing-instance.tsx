/** There is no such instance. */
import type { WireRef } from "everstep/client";
import { Link } from "wouter";
import type { Problem } from "../../api/problem.ts";
import { links } from "../../links.ts";
import { Empty, ProblemNotice } from "../../parts/notice.tsx";

const notThere = ["INSTANCE_NOT_FOUND", "INVALID_INSTANCE_ID", "INVALID_WORKFLOW_NAME", "ROUTE_NOT_FOUND"];

export function MissingInstance({
  address,
  problem,
}: {
  readonly address: WireRef;
  readonly problem: Problem;
}) {
  if (problem.code === "WORKFLOW_NOT_FOUND") return <OfUnknownWorkflow {...address} />;
  return (
    <>
      <h1 className="instance-id">{address.instanceId}</h1>
      {notThere.includes(problem.code) ? <NotThere {...address} /> : <ProblemNotice problem={problem} />}
    </>
  );
}

function NotThere({ workflowName, instanceId }: WireRef) {
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

function OfUnknownWorkflow({ workflowName, instanceId }: WireRef) {
  return (
    <>
      <h1 className="instance-id">{instanceId}</h1>
      <Empty title="There is no such instance.">
        <p>
          Nor is there a workflow <code>{workflowName}</code> in the process that answered. The address may
          have a mistake.
        </p>
        <Link href={links.workflows}>Workflows</Link>
      </Empty>
    </>
  );
}
