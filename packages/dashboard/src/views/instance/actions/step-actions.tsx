/** What may be done with one step of the current run. */
import type { WireStep } from "everstep/client";
import { FastForward, GitFork, RotateCcw, Undo2 } from "lucide-react";
import { useState } from "react";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { waitsOf } from "../head/waits.ts";
import type { Live } from "../live.ts";
import { allowedActions } from "./allowed.ts";
import { ForkForm, RestartForm, RetryForm } from "./forms.tsx";
import { useManage } from "./use-manage.ts";

export function StepActions({ live, step }: { readonly live: Live; readonly step: WireStep }) {
  const {
    instance,
    value,
    why: { why },
  } = live;
  const manage = useManage();
  const isBusy = manage.busy !== null || live.isStale;
  const [open, setOpen] = useState<"restart" | "fork" | "retry" | null>(null);
  const allowed = allowedActions(value.details.status, value.steps, why);
  // Of several sleeps the one that would end first is skipped.
  const isNextSleep = waitsOf(value.steps).find(({ kind }) => kind === "sleep")?.step.index === step.index;
  const from = { name: step.name, selector: { name: step.stepKey, type: step.type } };
  const form = { live, manage, onClose: () => setOpen(null) };
  const opener = (name: "restart" | "fork" | "retry") => ({
    type: "button" as const,
    className: "tiny",
    disabled: isBusy,
    "aria-expanded": open === name,
    onClick: () => {
      manage.clear();
      setOpen(open === name ? null : name);
    },
  });
  return (
    <div className="stack close">
      <div className="buttons">
        {isNextSleep && allowed.has("skipSleep") && (
          <button
            type="button"
            className="tiny"
            disabled={isBusy}
            onClick={() => void manage.run("skip", "The sleep was skipped.", () => instance.skipSleep())}
          >
            <FastForward aria-hidden />
            Skip sleep
          </button>
        )}
        {why?.stepKey === step.stepKey && allowed.has("retryFailedStep") && (
          <button {...opener("retry")}>
            <Undo2 aria-hidden />
            Retry failed step
          </button>
        )}
        <button {...opener("restart")}>
          <RotateCcw aria-hidden />
          Restart from this step
        </button>
        {live.access.instanceCreation && (
          <button {...opener("fork")}>
            <GitFork aria-hidden />
            Fork from this step
          </button>
        )}
      </div>
      {open === "restart" && <RestartForm {...form} from={from} />}
      {open === "fork" && <ForkForm {...form} from={from} />}
      {open === "retry" && allowed.has("retryFailedStep") && <RetryForm {...form} />}
      {manage.problem && <ProblemNotice problem={manage.problem} />}
    </div>
  );
}
