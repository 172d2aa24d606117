/** The most telling figures, one row each. */
import { numberText, summaryText } from "../number-text.ts";
import type { Report } from "../report.ts";
import { summarize } from "../stats.ts";
import type { Figures } from "../workload.ts";

export interface RowSpec {
  readonly what: string;
  readonly workload: string;
  /** Nothing where a store does not have the figure. */
  readonly value: (round: Figures) => number | undefined;
}

export const rows: readonly RowSpec[] = [
  row("raw: step results per s, one at a time", "limits", "single1"),
  row("raw: step results per s, 200 together", "limits", "grouped1"),
  row("raw: workflows of 5 steps per s, 256 together", "throughput", "rawWorkflows256"),
  row("workflows of 5 steps per s", "throughput", "workflows"),
  ratio("- of the raw limit", "throughput", "workflows", "rawWorkflows256"),
  row("processor time of the process per step, us", "throughput", "cpu"),
  row("- the engine's share of it", "throughput", "engineCpu"),
  row("one workflow of 5 steps, create to result, ms", "latency", "p50"),
  ratio("- by the raw transactions", "latency", "p50", "rawP50"),
  row("- its transactions", "latency", "transactions"),
  row("- its round trips", "cost", "alone roundTrips"),
  row("- transactions per workflow under load", "cost", "together transactions"),
  row("- round trips per workflow under load", "cost", "together roundTrips"),
  row("event to continue, ms", "events", "continue50"),
  row("event to result, ms", "events", "p50"),
  row("1,000 sleeps due in one second: late, p99, ms", "timers", "spreadP99"),
  row("1,000 sleeps of 1 s begun at once: late, p99, ms", "timers", "p99"),
  row("10,000 sleeps in the same second: late, p99, ms", "storm", "late99 of 10000"),
  row("- a claim, p99, ms", "storm", "claim99 of 10000"),
  row("- a claim, p99, with 1,000 of them, ms", "storm", "claim99 of 1000"),
  row("time per step in 1,000 steps, ms", "linear", "ms1"),
  row("time per step in 10,000 steps, ms", "linear", "ms2"),
  row("one more resume after 5,000 steps, by one after 100 (processor time)", "resume", "growth"),
  ...[1024, 65_536, 1_048_576].map((bytes) =>
    row(
      `params and results of ${numberText(bytes / 1024)} KB, MB per s`,
      "payloads",
      `engineMegabytes${bytes}`,
    ),
  ),
  row("create to start in another process, ms", "nudges", "start50"),
  row("event to continue in another process, ms", "nudges", "continue50"),
  row("last step to result in another process, ms", "nudges", "result50"),
  ...[1, 2, 4].map((count) => row(`workflows per s, processes: ${count}`, "runners", `own${count}`)),
  ...[1, 2, 4].map((count) =>
    row(`workflows per s created elsewhere, processes: ${count}`, "runners", `given${count}`),
  ),
  row("queries per s of an idle runner", "idle", "queries"),
  ...[100_000, 1_000_000].flatMap((count) => [
    row(`a claim with ${numberText(count)} parked, by one with few`, "parked", `claimGrowth${count}`),
    row(`create with ${numberText(count)} parked, by few`, "parked", `createGrowth${count}`),
    row(`create to result with ${numberText(count)} parked, by few`, "parked", `resultGrowth${count}`),
    row(
      `a list of waiting ones with ${numberText(count)} parked, by few`,
      "parked",
      `listWaitingGrowth${count}`,
    ),
    row(`memory of an idle runner with ${numberText(count)} parked, by few`, "parked", `rssGrowth${count}`),
  ]),
];

/** Empty where nothing was measured. */
export function cell({ workload, value }: RowSpec, { workloads }: Report): string {
  const rounds = workloads.find(({ name }) => name === workload)?.rounds ?? [];
  const found = rounds
    .map(value)
    .filter((each) => each !== undefined && each !== null && !Number.isNaN(each));
  return found.length === 0 ? "" : summaryText(summarize(found as number[]));
}

function row(what: string, workload: string, figure: string): RowSpec {
  return { what, workload, value: (round) => round[figure] };
}

function ratio(what: string, workload: string, engine: string, raw: string): RowSpec {
  return { what, workload, value: (round) => (round[engine] ?? Number.NaN) / (round[raw] ?? Number.NaN) };
}
