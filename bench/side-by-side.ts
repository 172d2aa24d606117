/** The most telling figures of several results in one table: `node scripts/up.mjs run bench/side-by-side.ts *.json`. */
import { readFileSync } from "node:fs";
import { numberText, type Report } from "./report.ts";
import { summarize } from "./stats.ts";
import type { Figures } from "./workload.ts";

interface RowSpec {
  readonly what: string;
  readonly workload: string;
  /** Nothing where a store does not have the figure. */
  readonly value: (round: Figures) => number | undefined;
}

const rows: readonly RowSpec[] = [
  row("raw: step results per s, one at a time", "limits", "single1"),
  row("raw: step results per s, 200 together", "limits", "grouped1"),
  row("raw: workflows of 5 steps per s, 256 together", "throughput", "rawWorkflows256"),
  row("workflows of 5 steps per s", "throughput", "workflows"),
  ratio("- of the raw limit", "throughput", "workflows", "rawWorkflows256"),
  row("processor time of the process per step, us", "throughput", "cpu"),
  row("one workflow of 5 steps, create to result, ms", "latency", "p50"),
  ratio("- by the raw transactions", "latency", "p50", "rawP50"),
  row("- its transactions", "latency", "transactions"),
  row("- its round trips", "cost", "alone roundTrips"),
  row("- transactions per workflow under load", "cost", "together transactions"),
  row("- round trips per workflow under load", "cost", "together roundTrips"),
  row("event to result, ms", "events", "p50"),
  row("1,000 sleeps of 1 s: late, p99, ms", "timers", "p99"),
  row("one more resume after 5,000 steps, by one after 100 (processor time)", "resume", "growth"),
  row("create to start in another process, ms", "nudges", "start50"),
  row("event to continue in another process, ms", "nudges", "continue50"),
  row("last step to result in another process, ms", "nudges", "result50"),
  ...[1, 2, 4].map((count) => row(`workflows per s, processes: ${count}`, "runners", `own${count}`)),
  ...[1, 2, 4].map((count) =>
    row(`workflows per s created elsewhere, processes: ${count}`, "runners", `given${count}`),
  ),
  ...[100_000, 1_000_000].flatMap((count) => [
    row(`a claim with ${numberText(count)} parked, by one with none`, "parked", `claimGrowth${count}`),
    row(`create to result with ${numberText(count)} parked, by none`, "parked", `resultGrowth${count}`),
  ]),
];

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")) as Report);
const heading = ["", ...reports.map(({ store }) => store.title)];
const table = rows.map((spec) => [spec.what, ...reports.map((report) => cell(spec, report))]);
const lines = [heading, heading.map((_, column) => (column === 0 ? "---" : "---:")), ...table];
process.stdout.write(`${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n`);

function row(what: string, workload: string, figure: string): RowSpec {
  return { what, workload, value: (round) => round[figure] };
}

function ratio(what: string, workload: string, engine: string, raw: string): RowSpec {
  return { what, workload, value: (round) => (round[engine] ?? Number.NaN) / (round[raw] ?? Number.NaN) };
}

function cell({ workload, value }: RowSpec, { workloads }: Report): string {
  const rounds = workloads.find(({ name }) => name === workload)?.rounds ?? [];
  const found = rounds.map(value).filter((each) => each !== undefined);
  if (found.length === 0) return "";
  const { median, min, max } = summarize(found);
  const [middle, low, high] = [median, min, max].map(numberText);
  return low === high ? `${middle}` : `${middle} (${low}-${high})`;
}
