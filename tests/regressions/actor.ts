/** A process that does to a store what it is told over IPC, and answers. */
import "../support/keep-compiled.ts";
import { createWorkflows, defineWorkflow } from "everstep";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { quiet } from "./quiet.ts";

/** Which data: a URL and a namespace, or a file. */
export type Place =
  | { readonly store: "sqlite"; readonly path: string }
  | { readonly store: "postgres" | "mysql" | "redis"; readonly url: string; readonly namespace: string };

export interface Order {
  /** "start": an app with a runner, up to its first instance. "mix": everything there is, at once. */
  readonly act: "start" | "create and exit" | "create and wait" | "mix" | "run by a clock of its own";
  readonly place: Place;
  readonly id: string;
  /** What the clocks of this process say from now on: so much more, and so many seconds per second. */
  readonly clock?: { readonly aheadMs: number; readonly rate: number };
}

export interface Answer {
  readonly problems: readonly string[];
}

/** Every kind of request there is, in a few steps. */
export const mixed = defineWorkflow({ name: "mixed" }, async ({ instanceId, payload }, step) => {
  const n = await step.do("flaky", { retries: { limit: 1, delay: 1 } }, async ({ attempt }) => {
    if (attempt === 1) throw new Error("not yet");
    return 1;
  });
  if (payload?.quick) return n;
  await step.do("child", async (context) => {
    context.startWorkflow("mixed", { id: `${instanceId}-child`, params: { quick: true } });
  });
  await step.sleep("nap", 5);
  await step.waitForEvent("note", { type: "note", timeout: "1 minute" });
  return n + 1;
});

/** Time that no clock of this process has a say in. */
const trueMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A nap, and a body during which everybody else looks many times for leases that have run out. */
export const timed = defineWorkflow({ name: "timed" }, async (_event, step) => {
  const before = await step.do("before", async () => trueMs());
  await step.sleep("nap", 500);
  const after = await step.do("after", async () => trueMs());
  await step.do("long", async () => {
    const end = trueMs() + 1000;
    while (trueMs() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  });
  return after - before;
});

export function openPlace(place: Place): Store {
  if (place.store === "sqlite") return sqlite({ path: place.path, synchronous: "normal" });
  const { store, ...where } = place;
  switch (store) {
    case "postgres":
      return postgres({ ...where, max: 2 });
    case "mysql":
      return mysql({ ...where, max: 2 });
    case "redis":
      return redis(where);
  }
}

const acts: Record<Order["act"], (order: Order, problems: unknown[]) => Promise<void>> = {
  async start({ place, id }, problems) {
    const app = createWorkflows({ workflows: { MIXED: mixed }, store: openPlace(place), ...quiet(problems) });
    await app.start();
    const instance = await app.workflows.MIXED.create({ id, params: { quick: true } });
    const { status } = await instance.result({ timeout: "60 seconds" });
    if (status !== "complete") problems.push(`The instance is ${status}.`);
    await app.stop();
  },

  async "create and exit"({ place, id }) {
    const app = createWorkflows({ workflows: { MIXED: mixed }, store: openPlace(place) });
    await app.workflows.MIXED.create({ id, params: { quick: true } });
    process.exit(0);
  },

  async "create and wait"({ place, id }) {
    const app = createWorkflows({ workflows: { MIXED: mixed }, store: openPlace(place) });
    await app.workflows.MIXED.create({ id, params: { quick: true } });
  },

  async mix({ place, id }, problems) {
    const app = createWorkflows({ workflows: { MIXED: mixed }, store: openPlace(place), ...quiet(problems) });
    await app.start();
    const ids = Array.from({ length: 10 }, (_, n) => `${id}-${n}`);
    await Promise.all(
      ids.map(async (each, n) => {
        const instance = await app.workflows.MIXED.create({ id: each });
        // Before the event: after it the instance may be complete at any moment.
        await instance.pause();
        await instance.resume();
        await instance.sendEvent({ type: "note", idempotencyKey: `note-${each}` });
        await app.workflows.MIXED.list();
        const { status } = await instance.result({ timeout: "60 seconds" });
        if (status !== "complete") problems.push(`Instance ${each} is ${status}.`);
        if (n % 3 === 0) await instance.restart();
        if (n % 3 === 0) await instance.terminate();
        await app.publish("nobody", each);
        await app.counts();
      }),
    );
    await app.prune();
    await app.stop();
  },

  async "run by a clock of its own"({ place, id, clock }, problems) {
    if (clock) setClocks(clock);
    const app = createWorkflows({
      workflows: { TIMED: timed },
      store: openPlace(place),
      runner: { poll: 100, minPoll: 100, maxPoll: 100 },
      ...quiet(problems),
    });
    await app.start();
    const batch = Array.from({ length: 5 }, (_, n) => ({ id: `${id}-${n}` }));
    const instances = await app.workflows.TIMED.createBatch(batch);
    for (const instance of instances) {
      const { status } = await instance.result({ timeout: "60 seconds" });
      if (status !== "complete") problems.push(`Instance ${instance.id} is ${status}.`);
    }
    await app.stop();
  },
};

function setClocks({ aheadMs, rate }: NonNullable<Order["clock"]>): void {
  const clocks = [Date, performance] as const;
  for (const clock of clocks) {
    const now = clock.now.bind(clock);
    const since = now();
    clock.now = () => {
      const said = since + aheadMs + (now() - since) * rate;
      return clock === Date ? Math.floor(said) : said;
    };
  }
}

process.on("message", async (order: Order) => {
  const problems: unknown[] = [];
  try {
    await acts[order.act](order, problems);
  } catch (problem) {
    problems.push(problem);
  }
  const answer: Answer = { problems: problems.map(String) };
  process.send?.(answer);
});
process.send?.("ready");
