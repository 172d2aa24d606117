import "../../look/workflows.css";
import type { WireWorkflow } from "everstep/client";
import { Play } from "lucide-react";
import { Link } from "wouter";
import { isAbort } from "../../api/problem.ts";
import { useSession } from "../../api/session.tsx";
import { useLoaded } from "../../api/use-loaded.ts";
import { links } from "../../links.ts";
import { Empty, ProblemNotice } from "../../parts/notice.tsx";
import { Bones } from "../../parts/skeleton.tsx";
import { counted } from "../../words/numbers.ts";
import { Counts } from "./counts.tsx";
import { inTurn } from "./in-turn.ts";

const againMs = 10_000;
const atOnce = 4;

export function WorkflowsView() {
  const { client, access } = useSession();
  const { value, problem, reload } = useLoaded({
    name: "all workflows",
    load: async (signal) => {
      const names = (await client.workflows({ signal })).map(({ name }) => name);
      return inTurn(names.toSorted(), atOnce, async (name) => {
        try {
          return { name, details: await client.workflow(name).details({ signal }) };
        } catch (thrown) {
          // One that cannot be read does not hide the others.
          if (isAbort(thrown) || signal.aborted) throw thrown;
          return { name, details: null };
        }
      });
    },
    everyMs: againMs,
  });
  return (
    <>
      <div className="head">
        <h1>Workflows</h1>
        {value && value.length > 0 && <span className="dim">{counted(value.length, "workflow")}</span>}
      </div>
      {problem && <ProblemNotice problem={problem} again={reload} />}
      {!value && !problem && <Bones rows={6} height={40} />}
      {value?.length === 0 && (
        <div className="panel">
          <Empty title="This app has no workflows.">
            <span>
              Give them to <code>createWorkflows(&#123; workflows &#125;)</code> where the app is made.
            </span>
          </Empty>
        </div>
      )}
      {value && value.length > 0 && (
        <ul className="panel workflow-rows">
          {value.map(({ name, details }) => (
            <WorkflowRow key={name} name={name} details={details} mayStart={access.instanceCreation} />
          ))}
        </ul>
      )}
    </>
  );
}

function WorkflowRow({
  name,
  details,
  mayStart,
}: {
  readonly name: string;
  readonly details: WireWorkflow | null;
  readonly mayStart: boolean;
}) {
  return (
    <li className="workflow-row">
      <div className="workflow-name">
        <Link href={links.workflow(name)}>{name}</Link>
        <span className="small dim">{details ? spokenFacts(details) : "Its counts cannot be read now."}</span>
      </div>
      {details && <Counts workflowName={name} counts={details.counts} />}
      {mayStart && (
        <Link href={links.workflow(name)} className="button tiny" aria-label={`Start ${name}`}>
          <Play aria-hidden />
          Start
        </Link>
      )}
    </li>
  );
}

/** "schema for params · at most 10 at once". */
function spokenFacts({ checksParams, checksOutput, concurrency }: WireWorkflow): string {
  const checks = [checksParams && "params", checksOutput && "output"].filter(Boolean).join(" and ");
  return [
    checks === "" ? "no schema" : `schema for ${checks}`,
    concurrency === null ? "no concurrency limit" : `at most ${concurrency} at once`,
  ].join(" · ");
}
