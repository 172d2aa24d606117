/** Two runs side by side: how long each step took, and what is different. */
import type { WireInstanceWithMeta } from "everstep/client";
import { useMemo } from "react";
import { Link } from "wouter";
import { Notice, ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { useQuery } from "../../../use-query.ts";
import { counted, spokenNumber } from "../../../words/numbers.ts";
import { spokenDuration } from "../../../words/time.ts";
import type { Live } from "../live.ts";
import { type ComparedStep, compareRuns, type Finding } from "./compare.ts";
import { useRunSteps } from "./use-runs.ts";

const tones: Readonly<Record<Finding, string>> = {
  added: "is-active",
  gone: "is-terminated",
  kept: "is-terminated",
  slower: "is-waiting",
  faster: "is-complete",
  "status changed": "is-errored",
  "result changed": "is-paused",
};

export function ComparedRuns({
  live,
  left,
  right,
}: {
  readonly live: Live;
  readonly left: WireInstanceWithMeta;
  readonly right: WireInstanceWithMeta;
}) {
  const lefts = useRunSteps(live, left.meta.runNumber);
  const rights = useRunSteps(live, right.meta.runNumber);
  const rows = useMemo(
    () => (lefts.value && rights.value ? compareRuns(lefts.value.steps, rights.value.steps) : null),
    [lefts.value, rights.value],
  );
  const problem = lefts.problem ?? rights.problem;
  const isMore = lefts.value?.isMore || rights.value?.isMore;
  const changed = rows?.filter(({ findings }) => findings.some((finding) => finding !== "kept")).length ?? 0;
  return (
    <Panel
      title={`Run ${left.meta.runNumber} and run ${right.meta.runNumber}`}
      end={rows && <span className="small dim">{counted(changed, "difference")}</span>}
      flush
    >
      {problem && <ProblemNotice problem={problem} />}
      {!rows && !problem && (
        <div className="inside">
          <Bones rows={5} />
        </div>
      )}
      {isMore && (
        <Notice>Only the first {spokenNumber(lefts.value?.steps.length ?? 0)} steps are compared.</Notice>
      )}
      {rows && (
        <div className="scroll-x">
          <table className="plain compared">
            <thead>
              <tr>
                <th>Step</th>
                <th className="number">Run {left.meta.runNumber}</th>
                <th className="number">Run {right.meta.runNumber}</th>
                <th className="number">Difference</th>
                <th>What is different</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.stepKey} row={row} left={left.meta.runNumber} right={right.meta.runNumber} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}

function Row({
  row,
  left,
  right,
}: {
  readonly row: ComparedStep;
  readonly left: number;
  readonly right: number;
}) {
  return (
    <tr>
      <td className="mono" style={{ paddingLeft: 16 + row.depth * 16 }}>
        {row.stepKey}
      </td>
      <Cell step={row.left} ms={row.leftMs} run={left} />
      <Cell step={row.right} ms={row.rightMs} run={right} />
      <td className="number">{row.differenceMs === null ? "" : signed(row.differenceMs)}</td>
      <td>
        <span className="buttons">
          {row.findings.map((finding) => (
            <span key={finding} className={`status ${tones[finding]}`}>
              {finding}
            </span>
          ))}
        </span>
      </td>
    </tr>
  );
}

function Cell({
  step,
  ms,
  run,
}: {
  readonly step: ComparedStep["left"];
  readonly ms: number | null;
  readonly run: number;
}) {
  const query = useQuery();
  if (!step) return <td className="number dim">–</td>;
  return (
    <td className="number">
      <Link href={query.href({ run, with: null, step: step.index })}>
        {ms === null ? step.status : spokenDuration(ms)}
      </Link>
    </td>
  );
}

function signed(ms: number): string {
  if (ms === 0) return "0 ms";
  return `${ms > 0 ? "+" : "−"}${spokenDuration(Math.abs(ms))}`;
}
