/** The timeline of one run: of the current one as it goes on, of others from their history. */
import type { WireInstanceWithMeta } from "everstep/client";
import { Link } from "wouter";
import { Notice, ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { useQuery } from "../../../use-query.ts";
import { spokenNumber } from "../../../words/numbers.ts";
import type { Live } from "../live.ts";
import { RunTimeline } from "../run-timeline.tsx";
import { useRunSteps } from "./use-runs.ts";

export function OneRun({ live, run }: { readonly live: Live; readonly run: WireInstanceWithMeta }) {
  const query = useQuery();
  const { meta, details } = run;
  const isCurrent = meta.runNumber === live.value.meta.runNumber;
  const history = useRunSteps(live, isCurrent ? null : meta.runNumber);
  const steps = isCurrent ? live.value.steps : history.value?.steps;
  const of = (tab: string): string => query.href({ tab, run: meta.runNumber, with: null, step: null });
  return (
    <Panel
      title={`Run ${meta.runNumber}`}
      end={
        <>
          <Link href={of("events")}>Its events</Link>
          <Link href={of("logs")}>Its logs</Link>
        </>
      }
    >
      <div className="stack">
        {history.problem && <ProblemNotice problem={history.problem} again={history.reload} />}
        {!steps && !history.problem && <Bones rows={5} />}
        {history.value?.isMore && (
          <Notice>The first {spokenNumber(history.value.steps.length)} steps are shown.</Notice>
        )}
        {steps && (
          <RunTimeline
            live={live}
            run={{ steps, running: isCurrent ? live.value.running : [], meta, status: details.status }}
          />
        )}
      </div>
    </Panel>
  );
}
