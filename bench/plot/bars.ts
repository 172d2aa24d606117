/** What is drawn, out of reports: one chart per figure, one group of bars per store. */
import type { Report } from "../report.ts";
import { type Summary, summarize } from "../stats.ts";

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly Group[];
}

export interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly label: string;
  readonly kind: "raw" | "everstep" | "alternative";
  readonly value: Summary;
}

interface ChartSpec {
  readonly title: string;
  readonly unit: string;
  readonly workload: string;
  readonly engine: string;
  readonly raw: { readonly label: string; readonly figure: string };
  /** Its name in a comparison. */
  readonly compared: string;
}

const specs: readonly ChartSpec[] = [
  {
    title: "Workflows of 5 steps per second (longer is better)",
    unit: "per s",
    workload: "throughput",
    engine: "workflows",
    raw: { label: "raw, 256 together", figure: "rawWorkflows256" },
    compared: "throughput",
  },
  {
    title: "One workflow of 5 steps, create to result, p50 (shorter is better)",
    unit: "ms",
    workload: "latency",
    engine: "p50",
    raw: { label: "raw, 6 transactions", figure: "rawP50" },
    compared: "latency50",
  },
];

/** Charts without a single bar are left out. */
export function chartsOf(reports: readonly Report[]): readonly Chart[] {
  return specs
    .map(({ title, unit, ...spec }) => {
      const groups = reports.map((report) => ({ title: report.store.title, bars: barsOf(spec, report) }));
      return { title, unit, groups: groups.filter(({ bars }) => bars.length > 0) };
    })
    .filter(({ groups }) => groups.length > 0);
}

function barsOf(spec: Omit<ChartSpec, "title" | "unit">, report: Report): readonly Bar[] {
  const { workload, engine, raw, compared } = spec;
  const alternatives = report.libraries.filter(({ name }) => name !== "everstep");
  return [
    bar("raw", raw.label, figure(report, workload, raw.figure)),
    bar("everstep", "everstep", figure(report, workload, engine)),
    // Minutes later than the one beside the raw store, and in the same rounds as the others.
    bar("everstep", "everstep, compared", figure(report, "compare", `everstep ${compared}`)),
    ...alternatives.map(({ name, title }) =>
      bar("alternative", title, figure(report, "compare", `${name} ${compared}`)),
    ),
  ].flat();
}

function bar(kind: Bar["kind"], label: string, value: Summary | null): readonly Bar[] {
  return value === null ? [] : [{ kind, label, value }];
}

function figure({ workloads }: Report, workload: string, name: string): Summary | null {
  const rounds = workloads.find((each) => each.name === workload)?.rounds ?? [];
  const found = rounds.map((round) => round[name]).filter((value) => value !== undefined && value > 0);
  return found.length === 0 ? null : summarize(found as number[]);
}
