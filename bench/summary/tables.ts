/** Reports of several stores side by side, in Markdown. */
import { summaryText } from "../number-text.ts";
import type { Report } from "../report.ts";
import { markdownTable } from "../report-text.ts";
import { summarize } from "../stats.ts";
import type { Target } from "../targets.ts";
import { cell, rows } from "./rows.ts";

export function figuresTable(reports: readonly Report[]): string {
  const found = rows
    .map((spec) => [spec.what, ...reports.map((report) => cell(spec, report))])
    .filter(([, ...cells]) => cells.some((each) => each !== ""));
  return markdownTable(["", ...reports.map(({ store }) => store.title)], found);
}

/** Every target once, with what each store came to. */
export function targetsTable(reports: readonly Report[]): string {
  const idOf = ({ workload, what }: Target): string => `${workload}: ${what}`;
  const known = new Map<string, Target>();
  for (const { targets } of reports) for (const target of targets) known.set(idOf(target), target);
  const order = [...new Set(reports.flatMap(({ targets }) => targets.map(({ workload }) => workload)))];
  const place = (target: Target): number => order.indexOf(target.workload);
  const sorted = [...known].sort(([, a], [, b]) => place(a) - place(b));
  const found = sorted.map(([id, { aim }]) => [
    id,
    aim,
    ...reports.map(({ targets }) => {
      const target = targets.find((each) => idOf(each) === id);
      return target === undefined ? "" : targetText(target);
    }),
  ]);
  return markdownTable(["target", "aim", ...reports.map(({ store }) => store.title)], found);
}

function targetText({ aim, engine, ratio, verdict }: Target): string {
  if (verdict === "not measured") return verdict;
  const figure = summaryText(aim.startsWith("ratio") ? ratio : engine);
  if (verdict === "watched") return figure;
  return `${figure} ${verdict === "met" ? "met" : "**missed**"}`;
}

const compared = [
  ["workflows per s", "throughput"],
  ["one workflow, ms", "latency50"],
  ["event to result, ms", "event50"],
  ["sleeps late, p99, ms", "late99"],
] as const;

/** Nothing where nothing was compared. */
export function comparisonTable(reports: readonly Report[]): string | null {
  const found = reports.flatMap(({ store, libraries, workloads }) => {
    const rounds = workloads.find(({ name }) => name === "compare")?.rounds ?? [];
    return libraries.map(({ name, title, version }) => [
      store.title,
      name === "everstep" ? title : `${title} ${version}`,
      ...compared.map(([, figure]) => {
        const values = rounds
          .map((round) => round[`${name} ${figure}`])
          .filter((value) => value !== undefined);
        return values.length === 0 ? "-" : summaryText(summarize(values as number[]));
      }),
    ]);
  });
  if (found.length === 0) return null;
  return markdownTable(["store", "library", ...compared.map(([what]) => what)], found);
}
