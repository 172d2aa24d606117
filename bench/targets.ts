/** Every aim of every workload in one list, those included that this run did not measure. */
import { aimText, judge, type Verdict } from "./aims.ts";
import type { Ground } from "./grounds/ground.ts";
import type { WorkloadReport } from "./report.ts";
import type { Summary } from "./stats.ts";
import type { LineSpec, Sizes, Workload } from "./workload.ts";

export interface Target {
  readonly workload: string;
  readonly what: string;
  readonly unit: LineSpec["unit"];
  /** "ratio >= 0.5"; empty where the figure is only watched. */
  readonly aim: string;
  readonly engine: Summary | null;
  readonly ratio: Summary | null;
  readonly verdict: Verdict;
}

export function targetsOf(
  workloads: readonly Workload[],
  reports: readonly WorkloadReport[],
  sizes: Sizes,
  ground: Ground,
): readonly Target[] {
  return workloads.flatMap((workload) => {
    const report = reports.find(({ name }) => name === workload.name);
    return workload.lines(sizes, ground).flatMap(({ what, unit, aim }, n): Target[] => {
      if (!aim) return [];
      const { engine = null, ratio = null } = report?.lines[n] ?? {};
      const found = aim.of === "ratio" ? ratio : engine;
      return [
        { workload: workload.name, what, unit, aim: aimText(aim), engine, ratio, verdict: judge(aim, found) },
      ];
    });
  });
}
