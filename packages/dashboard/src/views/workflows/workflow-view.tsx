import "../../look/workflows.css";
import type { WireWorkflow } from "everstep/client";
import { Link } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Empty, ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Bones } from "../../parts/skeleton.tsx";
import { Counts } from "./counts.tsx";
import { spokenLimits } from "./limits-words.ts";
import { RecentPanel } from "./recent-panel.tsx";
import { StartForm } from "./start-form.tsx";

const againMs = 5000;

export function WorkflowView({ workflowName }: { readonly workflowName: string }) {
  const { client } = useSession();
  const { value, problem, reload } = useLoaded({
    name: `workflow ${workflowName}`,
    load: (signal) => client.workflow(workflowName).details({ signal }),
    everyMs: againMs,
  });
  const access = useAccess(workflowName);
  const isUnknown = problem?.code === "WORKFLOW_NOT_FOUND" || problem?.code === "INVALID_WORKFLOW_NAME";
  if (!value && isUnknown) {
    return (
      <Empty title="There is no such workflow here." isPage>
        <p>
          The process that answered has no workflow <code>{workflowName}</code>.
        </p>
        <Link href={links.workflows}>See all workflows</Link>
      </Empty>
    );
  }
  return (
    <>
      <div className="stack close">
        <nav className="crumbs small" aria-label="Where this is">
          <Link href={links.workflows}>Workflows</Link>
        </nav>
        <h1>{workflowName}</h1>
      </div>
      {problem && <ProblemNotice problem={problem} again={reload} />}
      {!value && !problem && <Bones rows={6} height={32} />}
      {value && (
        <>
          <Counts workflowName={workflowName} counts={value.counts} />
          <div className="workflow-parts">
            {access?.instanceCreation ? (
              <StartForm workflow={value} />
            ) : (
              <Panel title="Start an instance">
                <p className="dim">You may look, but not start instances of this workflow.</p>
              </Panel>
            )}
            <div className="stack">
              <RecentPanel workflowName={workflowName} />
              <Facts workflow={value} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

/** What this person may do with this very workflow; what they may in general, until that is known. */
function useAccess(workflowName: string) {
  const { client, access } = useSession();
  const { value } = useLoaded({
    name: `access ${workflowName}`,
    load: (signal) => client.access({ workflowName, signal }),
  });
  return value ?? access;
}

function Facts({ workflow }: { readonly workflow: WireWorkflow }) {
  const { key, name, checksParams, checksOutput, concurrency, limits } = workflow;
  return (
    <Panel title="Settings">
      <dl className="facts">
        {key !== name && (
          <>
            <dt>Name in code</dt>
            <dd className="mono">{key}</dd>
          </>
        )}
        <dt>Params</dt>
        <dd>{checksParams ? "Checked by a schema" : "No schema"}</dd>
        <dt>Output</dt>
        <dd>{checksOutput ? "Checked by a schema" : "No schema"}</dd>
        <dt>Instances at once</dt>
        <dd>{concurrency === null ? "No limit" : `At most ${concurrency}`}</dd>
      </dl>
      <details className="limits">
        <summary>Limits</summary>
        <dl className="facts">
          {spokenLimits(limits).map(({ name: limit, value }) => (
            <FactLine key={limit} name={limit} value={value} />
          ))}
        </dl>
      </details>
    </Panel>
  );
}

function FactLine({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
