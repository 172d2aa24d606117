/** A report for people: plain tables for a terminal, or Markdown. */
import { aimText } from "./aims.ts";
import { factsOf } from "./facts.ts";
import { summaryText } from "./number-text.ts";
import type { Line, Report, WorkloadReport } from "./report.ts";
import type { Target } from "./targets.ts";

type Cells = readonly string[];

export function plainText(report: Report): string {
  const parts = report.workloads.map((workload) => {
    const { name, about } = workload;
    const heading = ["", "everstep", besideText(report, workload), "ratio", "aim"];
    return [`${name}: ${about}`, ...aligned([heading, ...linesOf(workload)])].join("\n");
  });
  const targets = ["targets", ...aligned([targetHeading, ...report.targets.map(targetCells)])].join("\n");
  return [...parts, targets, ...factsOf(report)].join("\n\n");
}

export function markdown(report: Report): string {
  const parts = report.workloads.map((workload) => {
    const { name, about } = workload;
    const heading = ["what", "everstep", besideText(report, workload), "ratio", "aim"];
    return `### ${name}\n\n${sentence(about)}\n\n${markdownTable(heading, linesOf(workload))}`;
  });
  const targets = `### targets\n\n${markdownTable(targetHeading, report.targets.map(targetCells))}`;
  return [...parts, targets, ...factsOf(report)].join("\n\n");
}

export function markdownTable(heading: Cells, rows: readonly Cells[]): string {
  const rule = heading.map((_, column) => (column === 0 ? "---" : "---:"));
  return [heading, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function besideText({ store }: Report, { beside }: WorkloadReport): string {
  return beside ?? `raw ${store.title}`;
}

/** What another library does not have is told below the tables. */
function linesOf({ lines, beside }: WorkloadReport): readonly Cells[] {
  return lines.filter(({ raw }) => beside === null || raw !== null).map(cellsOf);
}

function cellsOf(line: Line): Cells {
  const aim = line.aim === null ? "" : `${aimText(line.aim)} (${line.verdict})`.trim();
  return [
    withUnit(line),
    summaryText(line.engine),
    summaryText(line.raw),
    summaryText(line.ratio),
    line.verdict === "watched" ? "" : aim,
  ];
}

export const targetHeading = ["target", "everstep", "ratio", "aim", "verdict"];

export function targetCells(target: Target): Cells {
  const { workload, engine, ratio, aim, verdict } = target;
  return [`${workload}: ${withUnit(target)}`, summaryText(engine), summaryText(ratio), aim, verdict];
}

function withUnit({ what, unit }: Pick<Line, "what" | "unit">): string {
  return unit === "" ? what : `${what}, ${unit}`;
}

function sentence(about: string): string {
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}.`;
}

/** The first column to the left, the others to the right. */
function aligned(table: readonly Cells[]): readonly string[] {
  const [first = []] = table;
  const widths = first.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return table.map((row) => `  ${row.map(pad).join("   ").trimEnd()}`);
}
