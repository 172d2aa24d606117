/** The timeline of one run with the panel of the step that is chosen in the address. */
import type { InstanceStatus, WireMeta, WireRunningBody, WireStep } from "everstep/client";
import { Empty } from "../../parts/notice.tsx";
import { useQuery } from "../../use-query.ts";
import { StepActions } from "./actions/step-actions.tsx";
import type { Live } from "./live.ts";
import { StepPanel } from "./step-panel/step-panel.tsx";
import { Timeline } from "./timeline/timeline.tsx";

export interface ShownRun {
  readonly steps: readonly WireStep[];
  readonly running: readonly WireRunningBody[];
  readonly meta: WireMeta;
  readonly status: InstanceStatus;
}

export function RunTimeline({ live, run }: { readonly live: Live; readonly run: ShownRun }) {
  const query = useQuery();
  const asked = query.get("step");
  const selected = asked !== null && /^\d+$/.test(asked) ? Number(asked) : null;
  const step = selected === null ? undefined : run.steps.find(({ index }) => index === selected);
  const isCurrentRun = run.meta.runNumber === live.value.meta.runNumber;
  const select = (index: number | null): void => query.set({ step: index });
  return (
    <div className={selected === null ? "run-timeline" : "run-timeline has-panel"}>
      <Timeline
        {...run}
        stillAt={live.staleSince}
        selected={selected}
        onSelect={select}
        href={(index) => query.href({ step: index })}
      />
      {selected !== null && !step && (
        <Empty title="There is no such step in this run.">
          <button type="button" onClick={() => select(null)}>
            Close
          </button>
        </Empty>
      )}
      {step && (
        <div className="panel-place">
          <StepPanel
            key={`${run.meta.runNumber} ${step.index}`}
            instance={live.address}
            step={step}
            runNumber={run.meta.runNumber}
            isCurrentRun={isCurrentRun}
            actions={isCurrentRun && live.access.management ? <StepActions live={live} step={step} /> : null}
            onClose={() => select(null)}
          />
        </div>
      )}
    </div>
  );
}
