/** Everything that may be done with the instance as a whole. */
import { Ban, Download, GitFork, Pause, Play, RotateCcw, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { ProblemNotice } from "../../../parts/notice.tsx";
import type { Live } from "../live.ts";
import { allowedActions } from "./allowed.ts";
import { download, fileName } from "./download.ts";
import { DeleteForm, ForkForm, RestartForm, RetryForm, TerminateForm } from "./forms.tsx";
import { SaidText } from "./said.tsx";
import { useManage } from "./use-manage.ts";

const forms = {
  restart: RestartForm,
  fork: ForkForm,
  terminate: TerminateForm,
  delete: DeleteForm,
  retry: RetryForm,
} as const;

export function ActionBar({ live }: { readonly live: Live }) {
  const { instance, value, access, address } = live;
  const manage = useManage();
  const [open, setOpen] = useState<keyof typeof forms | null>(null);
  const allowed = access.management
    ? allowedActions(value.details.status, value.steps, live.why.why)
    : new Set();
  // What it is at is not known while the server is out of reach.
  const isBusy = manage.busy !== null || live.isStale;
  const toggle = (form: keyof typeof forms): void => {
    manage.clear();
    setOpen(open === form ? null : form);
  };
  const exportHistory = async (): Promise<void> => {
    const { runNumber } = value.meta;
    const name = fileName(address.workflowName, address.instanceId, "run", runNumber);
    download(name, await instance.exportHistory({ runNumber }));
  };
  // What it was opened for may have become impossible meanwhile.
  const isPossible = open !== null && allowed.has(open === "retry" ? "retryFailedStep" : open);
  const Form = open !== null && isPossible ? forms[open] : null;
  const opener = (form: keyof typeof forms) => ({
    type: "button" as const,
    disabled: isBusy,
    "aria-expanded": open === form,
    onClick: () => toggle(form),
  });
  return (
    <div className="actions stack close">
      <div className="buttons">
        {allowed.has("retryFailedStep") && (
          <button {...opener("retry")} className="main-button">
            <Undo2 aria-hidden />
            Retry failed step
          </button>
        )}
        {allowed.has("resume") && (
          <button
            type="button"
            className="main-button"
            disabled={isBusy}
            onClick={() => void manage.run("resume", "Resumed.", () => instance.resume())}
          >
            <Play aria-hidden />
            Resume
          </button>
        )}
        {allowed.has("pause") && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => void manage.run("pause", "Paused.", () => instance.pause())}
          >
            <Pause aria-hidden />
            Pause
          </button>
        )}
        {allowed.has("restart") && (
          <button {...opener("restart")}>
            <RotateCcw aria-hidden />
            Restart
          </button>
        )}
        {allowed.has("fork") && access.instanceCreation && (
          <button {...opener("fork")}>
            <GitFork aria-hidden />
            Fork
          </button>
        )}
        <button
          type="button"
          disabled={isBusy}
          onClick={() => void manage.run("export", "Exported.", exportHistory)}
        >
          <Download aria-hidden />
          {manage.busy === "export" ? "Exporting …" : "Export history"}
        </button>
        {allowed.has("terminate") && (
          <button {...opener("terminate")} className="danger">
            <Ban aria-hidden />
            Terminate
          </button>
        )}
        {allowed.has("delete") && (
          <button {...opener("delete")} className="danger">
            <Trash2 aria-hidden />
            Delete
          </button>
        )}
      </div>
      <SaidText />
      {Form && <Form key={open} live={live} manage={manage} onClose={() => setOpen(null)} />}
      {manage.problem && <ProblemNotice problem={manage.problem} />}
    </div>
  );
}
