import type { WireInstanceWithMeta } from "everstep/client";
import { Link } from "wouter";
import { ProblemNotice } from "../../../parts/notice.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Bones } from "../../../parts/skeleton.tsx";
import { Status } from "../../../parts/status.tsx";
import { When } from "../../../parts/when.tsx";
import { useQuery } from "../../../use-query.ts";
import { Took } from "../head/facts.tsx";
import { terminationText } from "../head/termination.ts";
import type { Live } from "../live.ts";
import { ComparedRuns } from "./compared-runs.tsx";
import { OneRun } from "./one-run.tsx";
import { useRuns } from "./use-runs.ts";

export function RunsTab({ live }: { readonly live: Live }) {
  const query = useQuery();
  const { value: runs, problem, reload } = useRuns(live);
  const run = findRun(runs, query.get("run"));
  const other = findRun(runs, query.get("with"));
  return (
    <>
      {problem && <ProblemNotice problem={problem} again={reload} />}
      {!runs && !problem && <Bones rows={3} />}
      {runs && <RunList runs={runs} shown={run} other={other} />}
      {run && other && run !== other && <ComparedRuns live={live} left={run} right={other} />}
      {run && (!other || run === other) && <OneRun live={live} run={run} />}
    </>
  );
}

function findRun(
  runs: readonly WireInstanceWithMeta[] | undefined,
  asked: string | null,
): WireInstanceWithMeta | undefined {
  return asked === null ? undefined : runs?.find(({ meta }) => String(meta.runNumber) === asked);
}

function RunList({
  runs,
  shown,
  other,
}: {
  readonly runs: readonly WireInstanceWithMeta[];
  readonly shown: WireInstanceWithMeta | undefined;
  readonly other: WireInstanceWithMeta | undefined;
}) {
  const query = useQuery();
  return (
    <Panel title="Runs" flush>
      <div className="scroll-x">
        <table className="plain runs cards">
          <thead>
            <tr>
              <th>Run</th>
              <th>Status</th>
              <th>Started</th>
              <th className="number">Took</th>
              <th>How it ended</th>
              <th>
                <span className="for-readers">Compare</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run, at) => {
              const { runNumber, startedAt } = run.meta;
              const before = runs[at + 1]?.meta.runNumber;
              return (
                <tr key={runNumber} className={run === shown || run === other ? "is-shown" : undefined}>
                  <td>
                    <Link
                      href={query.href({ run: runNumber, with: null, step: null })}
                      aria-current={run === shown && !other ? "true" : undefined}
                    >
                      Run {runNumber}
                    </Link>
                  </td>
                  <td>
                    <Status status={run.details.status} bare />
                  </td>
                  <td data-label="Started">
                    <When at={startedAt} />
                  </td>
                  <td className="number" data-label="Took">
                    <Took meta={run.meta} />
                  </td>
                  <td className="how" data-label="How it ended">
                    {howItEnded(run)}
                  </td>
                  <td className="number">
                    {before !== undefined && (
                      <Link href={query.href({ run: before, with: runNumber, step: null })}>
                        Compare with run {before}
                      </Link>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

function howItEnded({ details, meta }: WireInstanceWithMeta): string {
  if (details.error) return `${details.error.name}: ${details.error.message}`;
  if (meta.terminationReason) return `Ended by ${terminationText(meta.terminationReason)}`;
  return details.status === "complete" ? "It returned." : "It has not ended.";
}
