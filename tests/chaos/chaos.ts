/** One run of the chaos: load and faults, and then peace until everything has ended. */
import { countLetters } from "./acts.ts";
import { auditRecordsUntil } from "./audit/records.ts";
import { drawSchedule } from "./faults.ts";
import type { JourneyParams } from "./journey.ts";
import { readLedger } from "./ledger.ts";
import type { Site } from "./site.ts";
import { openStage, type Stage } from "./stage.ts";
import { describeStuck, listOpen } from "./stuck.ts";
import { summaryOf } from "./summary.ts";
import { lookFor, monotonic, pause } from "./time.ts";
import { gatherEvidence, judge, type Verdict } from "./verdict.ts";

const journeysPerSecond = 9;
const progressMs = 5000;
/** So few are told one by one. */
const shownMax = 6;

/**
 * How long it may take after faults of so many seconds until everything has ended. A run whose body was cut off again and
 * again is begun ever later.
 */
export function drainMsAfter(seconds: number): number {
  return 240_000 + seconds * 1000;
}

export interface ChaosOptions {
  readonly site: Site;
  readonly seed: number;
  readonly seconds: number;
  readonly say: (line: string) => void;
}

export async function runChaos({ site, seed, seconds, say }: ChaosOptions): Promise<Verdict> {
  const stage = await openStage(site, seed);
  const began = monotonic();
  const sayWhen = (line: string): void => say(`${((monotonic() - began) / 1000).toFixed(0)} s: ${line}`);
  const stopTelling = tellProgress(stage, sayWhen);
  try {
    await raiseFleet(stage);
    const news = { isOver: false };
    const publishing = stage.clients.publishUntil(() => news.isOver);
    const auditing = auditRecordsUntil(() => news.isOver, stage.observer);
    await storm(stage, seconds);
    sayWhen("the faults are over");
    const isDrained = await drain(stage, drainMsAfter(seconds));
    news.isOver = true;
    await publishing;
    const onTheWay = await auditing;
    await stage.clients.settled();
    if (!isDrained) throw new Error(await describeStuck(stage.observer, readLedger(stage.fleet.folder)));
    sayWhen("everything has ended");
    await stage.fleet.leave();
    const evidence = await gatherEvidence(stage);
    say(summaryOf(evidence, stage.faults.counts));
    return { ...(await judge(evidence, stage)), onTheWay };
  } finally {
    stopTelling();
    await stage.close();
  }
}

async function raiseFleet({ observer, faults, fleet }: Stage): Promise<void> {
  await observer.migrate();
  faults.keepFull();
  await Promise.all(fleet.places.map(({ runner }) => runner?.ready));
}

/** Everything at once: clients, an operator, and whatever can go wrong. */
async function storm({ clients, operator, faults, random, site }: Stage, seconds: number): Promise<void> {
  const lengthMs = seconds * 1000;
  let isOver = false;
  const failing = async (): Promise<void> => {
    await faults.carryOut(drawSchedule(random, lengthMs, site));
    await faults.over();
    isOver = true;
  };
  await Promise.all([
    failing(),
    // The last ones have time to meet the faults, too.
    clients.createJourneys(Math.ceil(seconds * journeysPerSecond), lengthMs * 0.8),
    operator.steerUntil(() => isOver),
  ]);
  await clients.settled();
}

/** True when everything has ended in time. Paused ones are resumed, and whoever waits for letters gets them. */
async function drain({ observer, operator, clients, faults }: Stage, withinMs: number): Promise<boolean> {
  const { JOURNEY } = observer.workflows;
  const look = async (): Promise<true | undefined> => {
    faults.keepFull();
    await operator.resumeAll();
    const { items } = await JOURNEY.list({ status: "waiting", pageSize: 100 });
    for (const { id, params } of items) {
      if (countLetters((params as JourneyParams).acts) > 0) clients.writeAgain(await JOURNEY.get(id));
    }
    await pause(500);
    const { ended, all } = await countEnded(observer);
    return ended === all ? true : undefined;
  };
  return (await lookFor(look, { withinMs, everyMs: 500 })) ?? false;
}

function tellProgress({ observer, faults }: Stage, say: (line: string) => void): () => void {
  const tell = async (): Promise<void> => {
    const { ended, all } = await countEnded(observer);
    const open = all - ended > shownMax ? [] : await listOpen(observer);
    const what = open.length > 0 ? `, open: ${open.join("; ")}` : "";
    say(`${ended} of ${all} instances ended, ${faults.total} faults injected${what}`);
  };
  const timer = setInterval(() => void tell().catch(() => {}), progressMs);
  return () => clearInterval(timer);
}

async function countEnded({ workflows, counts }: Stage["observer"]): Promise<{ ended: number; all: number }> {
  let ended = 0;
  let all = 0;
  for (const { name } of Object.values(workflows)) {
    const { complete, errored, terminated, active, waiting, paused } = await counts(name);
    ended += complete + errored + terminated;
    all += complete + errored + terminated + active + waiting + paused;
  }
  return { ended, all };
}
