/** Everything about one step, beside the timeline or under it. */
import "../../../look/step-panel.css";
import type { WireRef, WireStep } from "everstep/client";
import { CircleCheck, CircleDot, CircleX, Hourglass, X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { StepErrors } from "./step-errors.tsx";
import { StepFacts } from "./step-facts.tsx";
import { StepResult } from "./step-result.tsx";

export interface StepPanelProps {
  readonly instance: WireRef;
  readonly step: WireStep;
  readonly runNumber: number;
  readonly isCurrentRun: boolean;
  /** What can be done with this step. */
  readonly actions: ReactNode;
  readonly onClose: () => void;
}

/** As in step-panel.css: wider screens have it beside the timeline. */
const beside = "(min-width: 1180px)";

export function StepPanel({ instance, step, runNumber, isCurrentRun, actions, onClose }: StepPanelProps) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  const close = useRef(onClose);
  close.current = onClose;

  // Where it opens below, it may be out of sight.
  useEffect(() => {
    if (!matchMedia(beside).matches) panel.current?.scrollIntoView({ block: "start" });
  }, []);
  // From wherever the focus is, unless something nearer has a use for the key.
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if ((event.target as Element).closest("input, textarea, select, [role=group]")) return;
      close.current();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);

  return (
    <section className="panel step-panel" aria-labelledby={id} ref={panel}>
      <header>
        <h2 id={id}>
          <span className="for-readers">Step </span>
          <bdi>{step.name}</bdi>
        </h2>
        <StepState step={step} />
        <div className="end">
          <button
            type="button"
            className="quiet tiny icon-only"
            onClick={onClose}
            aria-label="Close the step"
            title="Close (Esc)"
          >
            <X aria-hidden />
          </button>
        </div>
      </header>
      <div className="inside stack">
        {!isCurrentRun && <p className="small dim">This step belongs to run {runNumber}, which is over.</p>}
        <StepFacts step={step} />
        <StepErrors step={step} />
        {step.status === "completed" && (
          <StepResult instance={instance} index={step.index} type={step.type} runNumber={runNumber} />
        )}
      </div>
      {actions && <footer className="step-actions">{actions}</footer>}
    </section>
  );
}

const looks = {
  completed: { Icon: CircleCheck, look: "is-complete" },
  errored: { Icon: CircleX, look: "is-errored" },
  waiting: { Icon: Hourglass, look: "is-waiting" },
  running: { Icon: CircleDot, look: "is-active" },
} as const;

function StepState({ step }: { readonly step: WireStep }) {
  const { Icon, look } = looks[step.status];
  return (
    <span className={`status ${look}`}>
      <Icon aria-hidden />
      {step.status}
    </span>
  );
}
