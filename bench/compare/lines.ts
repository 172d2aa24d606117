/** What a comparison shows, and what is wanted of it. */
import type { Ground, StoreName } from "../grounds/ground.ts";
import type { Aim, LineSpec, Sizes } from "../workload.ts";

interface Titled {
  readonly name: string;
  readonly title: string;
}

/** How many times as many workflows per second as which alternative. */
const throughputAims: Partial<Record<StoreName, Titled & { readonly times: number }>> = {
  sqlite: { name: "openworkflow", title: "OpenWorkflow", times: 50 },
  postgres: { name: "dbos", title: "DBOS", times: 30 },
  redis: { name: "bullmq", title: "BullMQ", times: 3 },
};

/** Those that were compared; those of the aims are there in any case, so that a target is never forgotten. */
export function comparisonLines(
  compared: readonly Titled[],
  { compared: sizes }: Sizes,
  { name: store }: Ground,
): readonly LineSpec[] {
  const wanted = throughputAims[store];
  const isMissing = wanted !== undefined && !compared.some(({ name }) => name === wanted.name);
  return [...compared, ...(isMissing ? [wanted] : [])].flatMap(({ name, title }): LineSpec[] => {
    const line = (what: string, unit: LineSpec["unit"], figure: string, aim?: Aim): LineSpec => ({
      what: `${what}, beside ${title}`,
      unit,
      engine: `everstep ${figure}`,
      raw: `${name} ${figure}`,
      ...(aim && { aim }),
    });
    const times: Aim | undefined = wanted?.name === name ? { atLeast: wanted.times, of: "ratio" } : undefined;
    return [
      line(
        `workflows of 5 steps, up to ${sizes.workflows.toLocaleString("en")}`,
        "per s",
        "throughput",
        times,
      ),
      line("one workflow of 5 steps, p50", "ms", "latency50", { below: 1, of: "ratio" }),
      line("one workflow of 5 steps, p99", "ms", "latency99"),
      line("its result, by the last step of the other, p50", "ms", "body50"),
      line("event to result, p50", "ms", "event50"),
      line("event to result, p99", "ms", "event99"),
      line(`${sizes.timers.toLocaleString("en")} sleeps of ${sizes.timerMs} ms, late p50`, "ms", "late50"),
      line("sleeps, late p99", "ms", "late99"),
      line("processor time per workflow", "us", "cpu"),
    ];
  });
}
