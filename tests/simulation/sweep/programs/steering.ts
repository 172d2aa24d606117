/** People and other instances: create, pause, resume, terminate, restart, retry, fork, and what steps do to others. */
import { defineWorkflow } from "everstep";
import { createX, does, once, program, type SweepProgram } from "./program.ts";

/** A caller that died may have done it before. */
const unlessDone = (again: boolean, code: string) => (error: { code?: string }) => {
  if (!again || error.code !== code) throw error;
};

export const steeringPrograms: readonly SweepProgram[] = [
  program(
    "a pause in the middle, and a resume",
    'complete: "go on"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before", 400));
      await step.sleep("rest", 800);
      await step.do("after", does(site, "after", 400));
      const { payload } = await step.waitForEvent("last word", { type: "go", timeout: "10 minutes" });
      return payload;
    },
    async ({ again, pause }, x) => {
      await pause(1100);
      await x.pause().catch(unlessDone(again, "INSTANCE_TERMINAL"));
      await pause(1500);
      await x.resume();
      await x
        .sendEvent({ type: "go", payload: "go on", idempotencyKey: "go" })
        .catch(unlessDone(again, "INSTANCE_TERMINAL"));
    },
  ),

  program(
    "a restart in the middle",
    "terminated: restarted",
    async (_event, step, site) => {
      await step.do("before", does(site, "before", 300));
      await step.waitForEvent("wait", { type: "go", timeout: "10 minutes" });
      return step.do("after", does(site, "after"));
    },
    async ({ pause }, x) => {
      await pause(1600);
      if ((await x.runs()).length === 1) await x.restart();
      await x.sendEvent({ type: "go", idempotencyKey: "go" }).catch(({ code }: { code?: string }) => {
        if (code !== "INSTANCE_TERMINAL") throw new Error(`The event was refused: ${code}.`);
      });
    },
    { cutOff: ["main/x/1"], comesTo: { "main/x/2": 'complete: "did after"' } },
  ),

  program(
    "a restart from a step",
    'complete: "did after"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before"));
      await step.do("middle", does(site, "middle"));
      return step.do("after", does(site, "after"));
    },
    async ({ pause }, x) => {
      while ((await x.status()).status !== "complete") await pause(900);
      if ((await x.runs()).length === 1) await x.restart({ from: { name: "middle" } });
    },
    { comesTo: { "main/x/2": 'complete: "did after"' }, starts: { "main/x/2/before": 0 } },
  ),

  program(
    "a terminate in the middle",
    "terminated: user",
    async (_event, step, site) => {
      await step.do("before", does(site, "before", 300));
      await step.do("for long", does(site, "for long", 600_000));
    },
    async ({ again, pause }, x) => {
      await pause(1700);
      await x.terminate().catch(unlessDone(again, "INSTANCE_TERMINAL"));
    },
    { cutOff: ["main/x/1"] },
  ),

  {
    name: "a batch of instances",
    workflows: (site) => ({
      MAIN: defineWorkflow({ name: "main" }, async ({ payload }, step) =>
        step.do("a", does(site, `something with ${payload}`)),
      ),
    }),
    calls: ({ app }) =>
      app.workflows.MAIN!.createBatch(["x", "y", "z"].map((id) => ({ id, params: `params of ${id}` }))),
    comesTo: {
      "main/x/1": 'complete: "did something with params of x"',
      "main/y/1": 'complete: "did something with params of y"',
      "main/z/1": 'complete: "did something with params of z"',
    },
  },

  {
    name: "a step that starts another workflow and sends an event",
    workflows: (site) => ({
      MAIN: defineWorkflow({ name: "main" }, async (_event, step) => {
        await step.do("tell", async ({ startWorkflow, sendEvent }) => {
          startWorkflow("other", { id: "child", params: "a child" });
          sendEvent({ workflow: "other", id: "listener" }, { type: "word", payload: "hello" });
        });
        return step.do("after", does(site, "after"));
      }),
      OTHER: defineWorkflow({ name: "other" }, async ({ payload, instanceId }, step) => {
        if (instanceId === "child") return step.do("a", does(site, `what ${payload} does`));
        const word = await step.waitForEvent("wait", { type: "word", timeout: "10 minutes" });
        return word.payload;
      }),
    }),
    calls: async (caller) => {
      await caller.app.workflows.OTHER!.create({ id: "listener", ifExists: "return" });
      await createX(caller);
    },
    comesTo: {
      "main/x/1": 'complete: "did after"',
      "other/child/1": 'complete: "did what a child does"',
      "other/listener/1": 'complete: "hello"',
    },
  },

  program(
    "a failed step that gets another attempt",
    'complete: "works"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before"));
      return step.do("broken", once, async () => {
        if (!site.outside.has("repaired")) throw new Error("broken");
        return "works";
      });
    },
    async ({ again, outside, pause }, x) => {
      while (!["errored", "complete"].includes((await x.status()).status)) await pause(900);
      outside.set("repaired", true);
      await x.retryFailedStep().catch(unlessDone(again, "INSTANCE_NOT_ERRORED"));
    },
    { starts: { "main/x/1/broken": 2 } },
  ),

  program(
    "a fork",
    'complete: "did after"',
    async (_event, step, site) => {
      await step.do("before", does(site, "before"));
      return step.do("after", does(site, "after"));
    },
    async ({ again, pause }, x) => {
      while ((await x.status()).status !== "complete") await pause(900);
      await x
        .fork({ newId: "y", from: { name: "after" } })
        .catch(unlessDone(again, "INSTANCE_ID_ALREADY_EXISTS"));
    },
    { comesTo: { "main/y/1": 'complete: "did after"' }, starts: { "main/y/1/before": 0 } },
  ),
];
