/** Sleeps and events. */
import { defineWorkflow } from "everstep";
import { type Caller, createX, does, type Instance, program, type SweepProgram } from "./program.ts";

const send = (x: Instance, payload: string) =>
  x.sendEvent({ type: "word", payload, idempotencyKey: `word ${payload}` });

/** What a wait gave, or that it was too long. */
const heard = (wait: Promise<{ payload: unknown }>): Promise<string> =>
  wait.then(
    ({ payload }) => `heard ${payload}`,
    ({ code }: { code?: string }) => `gave up: ${code}`,
  );

export const waitPrograms: readonly SweepProgram[] = [
  program("a sleep between two steps", 'complete: "did after"', async (_event, step, site) => {
    await step.do("before", does(site, "before"));
    await step.sleep("rest", 1500);
    return step.do("after", does(site, "after"));
  }),

  program("a sleep until a time", 'complete: "did after"', async (event, step, site) => {
    await step.sleepUntil("rest", event.timestamp.getTime() + 2500);
    return step.do("after", does(site, "after"));
  }),

  program(
    "an event that is there before the wait",
    'complete: "heard early"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before", 600));
      return heard(step.waitForEvent("wait", { type: "word", timeout: "10 minutes" }));
    },
    (_caller, x) => send(x, "early"),
  ),

  program(
    "an event that comes after the wait",
    'complete: "did after heard late"',
    async (_event, step, site) => {
      const words = await heard(step.waitForEvent("wait", { type: "word", timeout: "10 minutes" }));
      return step.do("after", does(site, `after ${words}`));
    },
    async (caller, x) => {
      await caller.pause(2500);
      await send(x, "late");
      await send(x, "late");
    },
  ),

  program(
    "a wait that times out, and is caught",
    'complete: "did after gave up: WAIT_FOR_EVENT_TIMEOUT"',
    async (_event, step, site) => {
      const words = await heard(step.waitForEvent("wait", { type: "word", timeout: 2000 }));
      return step.do("after", does(site, `after ${words}`));
    },
  ),

  program(
    "an event that comes when the wait is about to time out",
    'complete: "heard just so"',
    async (_event, step) => heard(step.waitForEvent("wait", { type: "word", timeout: 2000 })),
    async (caller, x) => {
      await caller.pause(2000);
      await send(x, "just so").catch((error: { code?: string }) => {
        if (error.code !== "INSTANCE_TERMINAL") throw error;
      });
    },
    { mayEnd: { "main/x/1": ['complete: "heard just so"', 'complete: "gave up: WAIT_FOR_EVENT_TIMEOUT"'] } },
  ),

  program(
    "two waits of one type, one after the other",
    'complete: "heard one, heard two"',
    async (_event, step) => {
      const first = await heard(step.waitForEvent("first", { type: "word", timeout: "10 minutes" }));
      const second = await heard(step.waitForEvent("second", { type: "word", timeout: "10 minutes" }));
      return `${first}, ${second}`;
    },
    async (caller, x) => {
      await send(x, "one");
      await caller.pause(1500);
      await send(x, "two");
    },
  ),

  program(
    "a race between an event and a sleep",
    'complete: "did after heard first"',
    async (_event, step, site) => {
      const first = await Promise.race([
        heard(step.waitForEvent("wait", { type: "word", timeout: "10 minutes" })),
        step.sleep("for long", "5 minutes").then(() => "slept"),
      ]);
      return step.do("after", does(site, `after ${first}`));
    },
    async (caller, x) => {
      await caller.pause(1200);
      await send(x, "first");
    },
  ),

  {
    name: "a publication that two instances wait for",
    workflows: (site) => ({
      MAIN: defineWorkflow({ name: "main" }, async (_event, step) => {
        const words = await heard(step.waitForEvent("wait", { topic: "news", timeout: "10 minutes" }));
        return step.do("after", does(site, `after ${words}`));
      }),
    }),
    calls: async (caller) => {
      const { app } = caller;
      await app.workflows.MAIN!.createBatch([{ id: "x" }, { id: "y" }]);
      const x = await app.workflows.MAIN!.get("x");
      while ((await app.waiters("news")).items.length < 2) {
        // Published before it died.
        if ((await x.status()).status === "complete") return;
        await caller.pause(700);
      }
      await app.publish("news", "something new", { idempotencyKey: "news 1" });
    },
    comesTo: {
      "main/x/1": 'complete: "did after heard something new"',
      "main/y/1": 'complete: "did after heard something new"',
    },
  },

  program(
    "a sleep that is skipped",
    'complete: "did after"',
    async (_event, step, site) => {
      await step.sleep("for long", "1 hour");
      return step.do("after", does(site, "after"));
    },
    async (caller, x) => {
      while ((await x.status()).status !== "complete") {
        await caller.pause(900);
        await x.skipSleep();
      }
    },
    { explains: ["sleep-skipped"] },
  ),
];

export { type Caller, createX };
