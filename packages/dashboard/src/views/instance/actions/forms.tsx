/** What is asked before an instance is terminated, deleted, restarted, forked, or gets another attempt. */
import type { WireStepSelector } from "everstep/client";
import { useId, useState } from "react";
import { useLocation } from "wouter";
import { links } from "../../../links.ts";
import { isEnded } from "../../../words/statuses.ts";
import type { Live } from "../live.ts";
import { InlineForm } from "./inline-form.tsx";
import type { Manage } from "./use-manage.ts";

interface FormProps {
  readonly live: Live;
  readonly manage: Manage;
  readonly onClose: () => void;
}

export function TerminateForm({ live: { instance }, manage, onClose }: FormProps) {
  const [reason, setReason] = useState("");
  const terminate = async (): Promise<void> => {
    const said = reason.trim() === "" ? {} : { reason: reason.trim() };
    if (await manage.run("terminate", "Terminated.", () => instance.terminate(said))) onClose();
  };
  return (
    <InlineForm
      title="Terminate this instance? It ends for good, in the middle of whatever it does."
      confirm="Terminate it"
      isDanger
      isBusy={manage.busy === "terminate"}
      onConfirm={() => void terminate()}
      onClose={onClose}
    >
      <TextField label="Reason (optional)" text={reason} onText={setReason} />
    </InlineForm>
  );
}

/** Only of one that has ended: what goes on is terminated first. */
export function DeleteForm({ live, manage, onClose }: FormProps) {
  const [, navigate] = useLocation();
  const { workflowName } = live.address;
  const { createdAt } = live.value.meta;
  const remove = async (): Promise<void> => {
    const isDone = await manage.run("delete", "Deleted.", () => live.instance.delete({ createdAt }));
    if (isDone) navigate(links.instances({ workflow: workflowName }));
  };
  return (
    <InlineForm
      title="Delete this instance? All of its runs, steps, events and log lines are removed for good."
      confirm="Delete it"
      isDanger
      isBusy={manage.busy === "delete"}
      onConfirm={() => void remove()}
      onClose={onClose}
    />
  );
}

/** From the beginning, or from a step. */
export function RestartForm({ live, manage, onClose, from }: FormProps & { readonly from?: StepFrom }) {
  const { runNumber } = live.value.meta;
  const restart = async (): Promise<void> => {
    const where = from ? { from: from.selector } : {};
    const act = () => live.instance.restart(where);
    if (await manage.run("restart", `Restarted as run ${runNumber + 1}.`, act)) onClose();
  };
  const ends = isEnded(live.value.details.status) ? "" : ` Run ${runNumber} ends where it is.`;
  const begins = from
    ? `Restart from "${from.name}"? What was recorded before it is kept; it and everything after it runs again as run ${runNumber + 1}.`
    : `Restart from the beginning, as run ${runNumber + 1}?`;
  return (
    <InlineForm
      title={`${begins}${ends}`}
      confirm="Restart it"
      isBusy={manage.busy === "restart"}
      onConfirm={() => void restart()}
      onClose={onClose}
    />
  );
}

/** A new instance that begins empty, or with what was recorded before a step. */
export function ForkForm({ live, manage, onClose, from }: FormProps & { readonly from?: StepFrom }) {
  const [newId, setNewId] = useState("");
  const [, navigate] = useLocation();
  const { workflowName } = live.address;
  const fork = async (): Promise<void> => {
    const id = newId.trim();
    let made = "";
    const isDone = await manage.run("fork", "Forked.", async () => {
      const options = { ...(from ? { from: from.selector } : {}), ...(id === "" ? {} : { newId: id }) };
      made = (await live.instance.fork(options)).id;
    });
    if (isDone) navigate(links.instance({ workflowName, instanceId: made }));
  };
  return (
    <InlineForm
      title={
        from
          ? `A new instance with the same params that begins with what was recorded before "${from.name}". This one is left alone.`
          : "A new instance with the same params that begins with nothing recorded. This one is left alone."
      }
      confirm="Fork it"
      isBusy={manage.busy === "fork"}
      onConfirm={() => void fork()}
      onClose={onClose}
    >
      <TextField
        label="Id of the new instance (optional)"
        hint="Letters, digits, _ and -, up to 100."
        text={newId}
        onText={setNewId}
      />
    </InlineForm>
  );
}

const delays = ["1 minute", "5 minutes", "1 hour", "1 day"] as const;

export function RetryForm({ live: { instance }, manage, onClose }: FormProps) {
  const id = useId();
  const [delay, setDelay] = useState("");
  const retry = async (): Promise<void> => {
    const done =
      delay === "" ? "The failed step is tried again." : `The failed step is tried again in ${delay}.`;
    const act = () => instance.retryFailedStep(delay === "" ? {} : { delay });
    if (await manage.run("retry", done, act)) onClose();
  };
  return (
    <InlineForm
      title="Give the step that failed one more attempt, within the same run? What is recorded stays."
      confirm="Retry it"
      isBusy={manage.busy === "retry"}
      onConfirm={() => void retry()}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor={id}>When</label>
        <select id={id} value={delay} onChange={(event) => setDelay(event.target.value)}>
          <option value="">Now</option>
          {delays.map((each) => (
            <option key={each} value={each}>
              In {each}
            </option>
          ))}
        </select>
      </div>
    </InlineForm>
  );
}

export interface StepFrom {
  readonly name: string;
  readonly selector: WireStepSelector;
}

function TextField({
  label,
  hint,
  text,
  onText,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly text: string;
  readonly onText: (text: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        value={text}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={hint && `${id}-hint`}
        onChange={(event) => onText(event.target.value)}
      />
      {hint && (
        <div id={`${id}-hint`} className="hint">
          {hint}
        </div>
      )}
    </div>
  );
}
