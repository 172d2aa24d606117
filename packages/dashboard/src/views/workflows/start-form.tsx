import type { WireWorkflow } from "everstep/client";
import { Play } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { useSession } from "../../api/session.tsx";
import { useAct } from "../../api/use-act.ts";
import { links } from "../../links.ts";
import { ProblemNotice } from "../../parts/notice.tsx";
import { Panel } from "../../parts/panel.tsx";
import { timeOfLocalText } from "../../words/local-time.ts";
import { zone } from "../../words/time.ts";
import { issuesOf } from "./issues.ts";
import { ParamsForm } from "./params-form.tsx";
import { useParams } from "./use-params.ts";

interface Terms {
  readonly id: string;
  readonly startAt: string;
  readonly deadline: string;
}

export function StartForm({ workflow }: { readonly workflow: WireWorkflow }) {
  const { client } = useSession();
  const [, navigate] = useLocation();
  const params = useParams(workflow.paramsSchema);
  const [terms, setTerms] = useState<Terms>({ id: "", startAt: "", deadline: "" });
  const start = useAct(async (value: unknown) => {
    const startAt = timeOfLocalText(terms.startAt);
    const deadline = timeOfLocalText(terms.deadline);
    const instance = await client.workflow(workflow.name).create({
      ...(value === undefined ? {} : { params: value }),
      ...(terms.id.trim() === "" ? {} : { id: terms.id.trim() }),
      ...(startAt === null ? {} : { startAt }),
      ...(deadline === null ? {} : { deadline }),
    });
    navigate(links.instance({ workflowName: workflow.name, instanceId: instance.id }));
  });
  const issues = start.problem ? issuesOf(start.problem) : [];
  const isIdWrong = start.problem !== null && idCodes.has(start.problem.code);

  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    start.clear();
    const ready = params.check();
    if (ready.ok) void start.run(ready.value).then((isDone) => !isDone && focusWrong(form));
    else focusWrong(form);
  };
  return (
    <Panel title="Start an instance">
      <form className="stack" onSubmit={submit} noValidate>
        <ParamsForm params={params} issues={issues} hasSchema={workflow.paramsSchema !== undefined} />
        <More terms={terms} onTerms={setTerms} wrongId={isIdWrong ? start.problem?.message : undefined} />
        {start.problem && !isIdWrong && <ProblemNotice problem={start.problem} />}
        <div className="buttons">
          <button type="submit" className="main-button" disabled={start.isBusy}>
            <Play aria-hidden />
            {start.isBusy ? "Starting" : "Start"}
          </button>
        </div>
      </form>
    </Panel>
  );
}

const idCodes = new Set(["INVALID_INSTANCE_ID", "INSTANCE_ID_ALREADY_EXISTS"]);

/** After what is wrong has been marked. */
function focusWrong(form: HTMLElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}

function More({
  terms,
  onTerms,
  wrongId,
}: {
  readonly terms: Terms;
  readonly onTerms: (terms: Terms) => void;
  readonly wrongId: string | undefined;
}) {
  return (
    <details className="more">
      <summary>More: id, start time, deadline</summary>
      <div className="columns">
        <div className="field">
          <label htmlFor="start-id">Instance id</label>
          <input
            id="start-id"
            className="mono"
            value={terms.id}
            spellCheck={false}
            autoCapitalize="off"
            autoComplete="off"
            aria-invalid={wrongId !== undefined}
            aria-describedby="start-id-about"
            onChange={(event) => onTerms({ ...terms, id: event.target.value })}
          />
          <div id="start-id-about" className={wrongId === undefined ? "hint" : "wrong"}>
            {wrongId ?? "Unique within the workflow. One is made if you leave it empty."}
          </div>
        </div>
        <div className="field">
          <label htmlFor="start-at">Start at</label>
          <input
            id="start-at"
            type="datetime-local"
            value={terms.startAt}
            onChange={(event) => onTerms({ ...terms, startAt: event.target.value })}
          />
          <div className="hint">Not before this time ({zone}). At once if empty.</div>
        </div>
        <div className="field">
          <label htmlFor="start-deadline">Deadline</label>
          <input
            id="start-deadline"
            type="datetime-local"
            value={terms.deadline}
            onChange={(event) => onTerms({ ...terms, deadline: event.target.value })}
          />
          <div className="hint">
            The instance is ended at this time ({zone}) if it has not ended by itself.
          </div>
        </div>
      </div>
    </details>
  );
}
