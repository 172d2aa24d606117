/** What every library gets to do, the same code for all of them. Whoever is slow does less of it in the same time. */
import { forEachOf, idle } from "../engine.ts";
import { percentile } from "../stats.ts";
import type { ComparedSizes, Figures } from "../workload.ts";
import type { Contender } from "./alternative.ts";
import type { Sightings } from "./sightings.ts";

export interface Measuring {
  readonly contender: Contender;
  readonly sightings: Sightings;
  readonly sizes: ComparedSizes;
}

/** Null where the library does not have what is to be measured. */
export type Measurement = (measuring: Measuring) => Promise<Figures | null>;

/** Of one at a time at least so many, however long each takes. */
const samplesMin = 3;
const warmUpsAtOnce = 100;

/** Throughput comes last: what is left of it when the time is over would disturb the others. */
export const measurements: Readonly<Record<string, Measurement>> = { latency, events, timers, throughput };

/** From the start until the library gives the result, and until the last step has returned. */
async function latency({ contender, sightings, sizes }: Measuring): Promise<Figures> {
  const results: number[] = [];
  const bodies: number[] = [];
  const one = async (id: string): Promise<void> => {
    const start = performance.now();
    await contender.startFive(id);
    await contender.result(id);
    results.push(performance.now() - start);
    bodies.push((sightings.at("ended", id) ?? Number.NaN) - start);
  };
  await inTime(Math.ceil(sizes.latencyRuns / 5), sizes.capMs / 3, (n) => one(`latency-warm-${n}`));
  results.length = 0;
  bodies.length = 0;
  await inTime(sizes.latencyRuns, sizes.capMs, (n) => one(`latency-${n}`));
  return {
    latency50: percentile(results, 0.5),
    latency99: percentile(results, 0.99),
    body50: percentile(bodies, 0.5),
    latencySamples: results.length,
  };
}

/** From the sending of an event to a workflow that waits for it until the library gives its result. */
async function events({ contender, sightings, sizes }: Measuring): Promise<Figures | null> {
  const { events: waiting } = contender;
  if (waiting === null) return null;
  const ids = Array.from({ length: sizes.events }, (_, n) => `event-${n}`);
  await forEachOf(ids.length, contender.startsAtOnce, (n) => waiting.start(ids[n] ?? ""));
  if (!(await sightings.many("waits", ids.length, 10 * sizes.capMs)))
    throw new Error(`only ${sightings.count("waits")} of ${ids.length} workflows came to their wait`);
  await idle(waiting.settleMs);
  const samples: number[] = [];
  const one = async (n: number): Promise<void> => {
    const id = ids[n] ?? "";
    const start = performance.now();
    await waiting.send(id);
    await contender.result(id);
    samples.push(performance.now() - start);
  };
  await inTime(ids.length, sizes.capMs, one);
  return {
    event50: percentile(samples, 0.5),
    event99: percentile(samples, 0.99),
    eventSamples: samples.length,
  };
}

/** How late the code after a sleep goes on. Whoever still sleeps at the end is as late as that, at least. */
async function timers({ contender, sightings, sizes }: Measuring): Promise<Figures | null> {
  const { sleeps } = contender;
  if (sleeps === null) return null;
  const { timers: count, timerMs, capMs } = sizes;
  const ids = Array.from({ length: count }, (_, n) => `timer-${n}`);
  await forEachOf(count, contender.startsAtOnce, (n) => sleeps.start(ids[n] ?? "", timerMs));
  await sightings.many("awake", count, timerMs + 2 * capMs);
  const end = performance.now();
  const late = ids.map((id) => {
    const asleep = sightings.at("asleep", id) ?? end;
    return (sightings.at("awake", id) ?? end) - asleep - timerMs;
  });
  return {
    late50: percentile(late, 0.5),
    late99: percentile(late, 0.99),
    woken: sightings.count("awake") / count,
  };
}

/** From the first start until the last step of the last workflow has returned, or as far as the time goes. */
async function throughput(measuring: Measuring): Promise<Figures> {
  const { contender, sightings, sizes } = measuring;
  const { workflows, capMs } = sizes;
  const startAll = (prefix: string, count: number): Promise<void> =>
    forEachOf(count, contender.startsAtOnce, (n) => contender.startFive(`${prefix}-${n}`));
  await warmUp(startAll, measuring);
  sightings.forget();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const started = startAll("many", workflows);
  // A failure shows where it is waited for.
  started.catch(() => {});
  await sightings.many("ended", workflows, capMs);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const ended = sightings.count("ended");
  if (ended === workflows) await started;
  return { throughput: ended / seconds, throughputSamples: ended, cpu: (user + system) / ended };
}

/** As many as there is time for, some at once: fast code is compiled late. */
async function warmUp(
  startAll: (prefix: string, count: number) => Promise<void>,
  { sightings, sizes: { warmUps, capMs } }: Measuring,
): Promise<void> {
  const start = performance.now();
  for (let from = 0; from < warmUps && performance.now() - start < capMs / 2; from += warmUpsAtOnce) {
    await startAll(`warm-${from}`, warmUpsAtOnce);
    await sightings.many("ended", from + warmUpsAtOnce, capMs);
  }
}

async function inTime(count: number, capMs: number, act: (n: number) => Promise<void>): Promise<void> {
  const start = performance.now();
  for (let n = 0; n < count && (n < samplesMin || performance.now() - start < capMs); n++) await act(n);
}
