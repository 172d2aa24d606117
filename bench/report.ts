/** What was measured, in words and tables. */
import type { Ground } from "./grounds/ground.ts";
import type { Machine } from "./machine.ts";
import { type Summary, summarize } from "./stats.ts";
import type { Aim, Figures, LineSpec, Workload } from "./workload.ts";

export interface Report {
  readonly store: Pick<Ground, "name" | "title" | "about">;
  readonly machine: Machine & { readonly loadAfter: number };
  /** Settings under which the store cannot keep its promises. */
  readonly warnings: readonly string[];
  readonly quick: boolean;
  readonly repeat: number;
  readonly seconds: number;
  /** What the engine's rows and the ones written by hand differ in; none if all is well. */
  readonly rowDifferences: readonly string[];
  readonly workloads: readonly WorkloadReport[];
}

export interface WorkloadReport {
  readonly name: string;
  readonly about: string;
  /** One entry per round. */
  readonly rounds: readonly Figures[];
  readonly lines: readonly Line[];
}

export interface Line {
  readonly what: string;
  readonly unit: LineSpec["unit"];
  readonly engine: Summary | null;
  readonly raw: Summary | null;
  /** Engine by raw, round by round. */
  readonly ratio: Summary | null;
  readonly aim: Aim | null;
  readonly aimMet: boolean | null;
}

export function reportOf(
  { name, about }: Workload,
  lines: readonly LineSpec[],
  rounds: readonly Figures[],
): WorkloadReport {
  return { name, about, rounds, lines: lines.map((line) => lineOf(line, rounds)) };
}

function lineOf(spec: LineSpec, rounds: readonly Figures[]): Line {
  const { what, unit, aim = null } = spec;
  const pick = (figure: string | undefined): readonly number[] | null =>
    figure === undefined ? null : rounds.map((round) => round[figure] ?? Number.NaN);
  const engine = pick(spec.engine);
  const raw = pick(spec.raw);
  const isCompared = engine !== null && raw !== null && spec.ratio !== false;
  const ratio = isCompared ? engine.map((value, n) => value / (raw[n] ?? Number.NaN)) : null;
  const line = { what, unit, engine: summary(engine), raw: summary(raw), ratio: summary(ratio), aim };
  return { ...line, aimMet: aim === null ? null : isMet(aim, line[aim.of]) };
}

function summary(samples: readonly number[] | null): Summary | null {
  return samples === null ? null : summarize(samples);
}

function isMet(aim: Aim, found: Summary | null): boolean {
  if (found === null) return false;
  if ("atLeast" in aim) return found.median >= aim.atLeast;
  if ("atMost" in aim) return found.median <= aim.atMost;
  return found.min === aim.exactly && found.max === aim.exactly;
}

// ------------------------------------------------------------------------------------------------ for people

function headings({ store }: Report): readonly string[] {
  return ["everstep", `raw ${store.title}`, "ratio", "aim"];
}

export function plainText(report: Report): string {
  const parts = report.workloads.map(({ name, about, lines }) => {
    const heading = ["", ...headings(report)];
    const table = [heading, ...lines.map(cells)];
    const widths = heading.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
    const text = table.map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("   ")
        .trimEnd(),
    );
    return [`${name}: ${about}`, ...text.map((row) => `  ${row}`)].join("\n");
  });
  return [...parts, ...facts(report)].join("\n\n");
}

export function markdown(report: Report): string {
  const rows = report.workloads.flatMap(({ name, lines }) =>
    lines.map((line) => {
      const [what, ...others] = cells(line);
      return `| ${name} | ${[what, ...others].join(" | ")} |`;
    }),
  );
  const table = [
    `| workload | what | ${headings(report).join(" | ")} |`,
    "| --- | --- | ---: | ---: | ---: | --- |",
    ...rows,
  ];
  return [table.join("\n"), ...facts(report)].join("\n\n");
}

function cells(line: Line): string[] {
  const unit = line.unit === "" ? "" : `, ${line.unit}`;
  return [
    `${line.what}${unit}`,
    cell(line.engine),
    cell(line.raw),
    line.ratio === null ? "" : `${cell(line.ratio)}`,
    line.aim === null ? "" : `${aimText(line.aim)} ${line.aimMet ? "(met)" : "(missed)"}`,
  ];
}

function cell(found: Summary | null): string {
  if (found === null) return "";
  const { median, min, max } = found;
  const [middle, low, high] = [numberText(median), numberText(min), numberText(max)];
  return low === high ? middle : `${middle} (${low}-${high})`;
}

export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return Math.abs(value) >= 100
    ? value.toFixed(0)
    : Math.abs(value) >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}

function aimText(aim: Aim): string {
  const bound =
    "atLeast" in aim ? `>= ${aim.atLeast}` : "atMost" in aim ? `<= ${aim.atMost}` : `= ${aim.exactly}`;
  return aim.of === "ratio" ? `ratio ${bound}` : bound;
}

function facts({
  store,
  warnings,
  machine,
  quick,
  repeat,
  seconds,
  rowDifferences,
}: Report): readonly string[] {
  const rounds = repeat === 1 ? "One round" : `Medians of ${repeat} rounds (smallest-largest)`;
  const found = [
    `${rounds}, ratios round by round${quick ? "; quick sizes, too small to mean much" : ""}. ` +
      `${store.about}. Node ${machine.node}, ${machine.system}, ` +
      `${machine.cores} x ${machine.processor}, ${machine.memoryGiB} GiB. ` +
      `Appending 4 KiB durably takes ${numberText(machine.fsyncMs)} ms. ` +
      `Load ${numberText(machine.loadBefore)} before and ${numberText(machine.loadAfter)} after; ${Math.round(seconds)} s in all.`,
    ...warnings.map((warning) => `The server is not as it should be: ${warning}`),
  ];
  if (rowDifferences.length === 0) return found;
  const list = rowDifferences.map((difference) => `- ${difference}`).join("\n");
  return [
    ...found,
    `The rows written by hand are not the engine's any more, so the raw figures may be wrong. Repair bench/raw:\n\n${list}`,
  ];
}
