/** A server with workflows whose every moment is known: the clock is in the test's hands, the store in memory. */
import {
  type App,
  type Authorize,
  allowAll,
  createWorkflows,
  defineWorkflow,
  type Runtime,
  systemRuntime,
} from "everstep";
import { memory } from "everstep/memory";
import { serve } from "everstep/node";
import { createFakeRuntime, type FakeRuntime } from "everstep/testing";
import { everstep, type Ran, type RunOptions } from "./everstep.ts";
import { inTerminal, type Seen, type TerminalOptions } from "./terminal.ts";

/** Steps, a failed attempt, a sleep, an event, a topic, log lines. */
const order = defineWorkflow({ name: "order" }, async (_, step) => {
  const charge = await step.do("charge", async () => {
    step.log.info("card charged", { cents: 500 });
    return { cents: 500 };
  });
  await step.do(
    "reserve",
    { retries: { limit: 2, delay: "10 seconds", backoff: "constant" } },
    async (context) => {
      if (context.attempt === 1) throw new Error("the warehouse is asleep");
      return "shelf 7";
    },
  );
  await step.sleep("cool off", "1 minute");
  const approval = await step.waitForEvent<{ by: string }>("approval", {
    type: "approved",
    timeout: "1 day",
  });
  await step.waitForEvent("prices", { topic: "prices.changed", timeout: "1 day" });
  return { charge, by: approval.payload?.by };
});

/** Does what its params say. */
const job = defineWorkflow({ name: "job" }, async (event, step) => {
  const { fail, say } = (event.payload ?? {}) as { fail?: string; say?: string };
  if (say !== undefined) step.log.warn(say);
  if (fail !== undefined) {
    await step.do("work", { retries: { limit: 0 } }, async () => {
      if (!repaired.has(event.instanceId)) throw new Error(fail);
    });
  }
  return event.payload ?? null;
});

/** Instances of `job` that succeed from now on. */
export const repaired = new Set<string>();

export interface World {
  readonly app: App;
  readonly url: string;
  readonly runtime: FakeRuntime;
  /** The bin with this server's URL and clock. */
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>;
  /** The same in a terminal. */
  see(line: string | readonly string[], options?: TerminalOptions): Promise<Seen>;
  close(): Promise<void>;
}

export async function openWorld(options: { readonly authorize?: Authorize } = {}): Promise<World> {
  const runtime = createFakeRuntime({ now: new Date("2026-01-31T12:00:00Z") });
  const app = createWorkflows({
    workflows: { ORDER: order, JOB: job },
    store: memory(),
    runtime: withLookingStreams(runtime),
    authorize: options.authorize ?? allowAll(),
    onNotice: () => {},
  });
  await app.start();
  const server = await serve(app, { port: 0 });
  const env = (more: Readonly<Record<string, string>> = {}) => ({
    EVERSTEP_URL: server.url,
    TEST_NOW: String(runtime.now()),
    ...more,
  });
  return {
    app: app as unknown as App,
    url: server.url,
    runtime,
    run: (line, given = {}) => everstep(wordsOf(line), { ...given, env: env(given.env) }),
    see: (line, given = {}) => inTerminal(wordsOf(line), { ...given, env: env(given.env) }),
    async close() {
      await server.close();
      await app.stop();
    },
  };
}

/** How often streams look whether something has changed. */
const lookMs = 100;

/** Streams look by a clock that goes on by itself: a command waits for them. Nothing else moves but by the test's hand. */
function withLookingStreams(runtime: FakeRuntime): Partial<Runtime> {
  return {
    ...runtime,
    timer: (callback, ms) =>
      ms === lookMs ? systemRuntime.timer(callback, ms) : runtime.timer(callback, ms),
  };
}

/** Without quotes in it, a line is its words. */
function wordsOf(line: string | readonly string[]): readonly string[] {
  return typeof line === "string" ? line.split(" ") : line;
}
