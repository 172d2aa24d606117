/** Instances in every shape an instance can have, made by the engine itself: what an audit must find nothing wrong with. */
import { defineWorkflow, NonRetryableError } from "everstep";
import {
  defineEntrypoint,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "everstep/cloudflare";
import type { Gate, TestHarness } from "everstep/testing";

interface Does {
  readonly does: keyof typeof acts;
}

/** What the bodies of one test share. */
interface Props {
  readonly gate: Gate;
  fixed: boolean;
}

const acts = {
  "runs-through": async (step: WorkflowStep) => {
    await step.do("a", async () => ({ at: new Date(0), big: 1n, none: undefined }));
    return step.do("b", () => step.do("inside", async () => new Map([["k", [1]]])));
  },
  sleeps: (step: WorkflowStep) => step.sleep("night", "1 day"),
  retries: (step: WorkflowStep) =>
    step.do("flaky", { retries: { limit: 3, delay: "1 hour" } }, async () => {
      throw Object.assign(new Error("down", { cause: new TypeError("because") }), { status: 503 });
    }),
  "retries-inside": (step: WorkflowStep) =>
    step.do("outer", { retries: { limit: 3, delay: "20 minutes" }, timeout: "1 minute" }, async () => {
      await step.do("done before", async () => 1);
      await step.waitForEvent("paid inside", { type: "paid", timeout: "1 hour" });
    }),
  waits: async (step: WorkflowStep) => {
    const first = await step.waitForEvent("first", { type: "paid" });
    return [first.payload, (await step.waitForEvent("second", { type: "paid" })).payload];
  },
  "hears-news": (step: WorkflowStep) => step.waitForEvent("news", { topic: "news", timeout: "2 days" }),
  "times-out": (step: WorkflowStep) =>
    step.waitForEvent("too late", { type: "paid", timeout: "1 minute" }).catch(() => "late"),
  races: (step: WorkflowStep) =>
    Promise.race([
      step.sleep("long", "3 days"),
      step.sleep("short", "1 minute"),
      step.waitForEvent("e", { type: "paid" }),
    ]),
  "waits-twice-at-once": (step: WorkflowStep) =>
    Promise.all([
      step.waitForEvent("left", { type: "paid" }),
      step.waitForEvent("right", { type: "paid" }),
      step.sleep("rest", "1 day"),
    ]),
  fails: (step: WorkflowStep) =>
    step.do("wrong", async () => {
      throw new NonRetryableError("for good");
    }),
  "gives-up": (step: WorkflowStep) =>
    step.do("tired", { retries: { limit: 1, delay: 0 } }, async () => {
      throw new Error("again");
    }),
  "leaves-things-open": async (step: WorkflowStep) => {
    void step.sleep("nobody waits", "1 day");
    void step.waitForEvent("nor for this", { type: "paid" });
    return step.do("done", async () => "done");
  },
  "fails-until-it-is-fixed": (step: WorkflowStep, props: Props) =>
    step.do("repaired", { retries: { limit: 1, delay: 0 } }, async () => {
      await step.waitForEvent("once", { type: "paid" });
      if (!props.fixed) throw new NonRetryableError("not yet");
      return "fixed";
    }),
  "is-at-work": (step: WorkflowStep, props: Props) => step.do("held", () => props.gate.wait()),
} as const;

export function workflowsOf(props: Props) {
  const shapes = defineWorkflow<Does>({ name: "shapes", retention: "30 days" }, async ({ payload }, step) =>
    acts[payload.does](step, props),
  );
  class Example extends WorkflowEntrypoint<unknown, Does> {
    override async run({ payload }: WorkflowEvent<Does>, step: WorkflowStep): Promise<unknown> {
      return acts[payload.does](step, props);
    }
  }
  return { SHAPES: shapes, CLOUD: defineEntrypoint({ name: "cloud" }, Example) };
}

export const shapes = Object.keys(acts) as readonly Does["does"][];

export type Stage = TestHarness<ReturnType<typeof workflowsOf>>;

/** One chapter after the other; what is in the store after each of them is sound. */
export function chapters(story: Stage, props: Props): readonly (readonly [string, () => Promise<unknown>])[] {
  const { SHAPES, CLOUD } = story.workflows;
  const shape = (id: Does["does"]) => SHAPES.get(id);
  return [
    ["an empty store", () => story.app.migrate()],
    [
      "all are created",
      async () => {
        const all = shapes.map((does) => ({ id: does, params: { does } }));
        await SHAPES.createBatch(all);
        await CLOUD.createBatch(all);
        await SHAPES.create({
          id: "later",
          params: { does: "runs-through" },
          startAt: new Date("2027-01-01"),
        });
        await SHAPES.create({
          id: "doomed",
          params: { does: "sleeps" },
          deadline: new Date("2026-01-01T02:00:00Z"),
        });
      },
    ],
    ["all have gone as far as they can", () => story.runUntilIdle()],
    [
      "events came, more than anybody waits for",
      async () => {
        for (const id of ["waits", "waits-twice-at-once", "leaves-things-open"] as const) {
          for (const n of [1, 2, 3])
            await (await shape(id)).sendEvent({ type: "paid", payload: n }).catch(() => {});
          await (await CLOUD.get(id)).sendEvent({ type: "paid" }).catch(() => {});
        }
        await (await shape("fails-until-it-is-fixed")).sendEvent({ type: "paid" });
        await story.app.publish("news", { headline: "all is well" });
      },
    ],
    ["they were taken", () => story.runUntilIdle()],
    [
      "people steered",
      async () => {
        await (await shape("sleeps")).skipSleep();
        await (await CLOUD.get("sleeps")).pause();
        await (await shape("races")).pause();
        await (await shape("is-at-work")).pause();
        await (await shape("retries")).terminate({ reason: "enough" });
        await (await shape("runs-through")).fork({ newId: "forked", from: "b" });
        await (await shape("runs-through")).restart();
        await (await CLOUD.get("runs-through")).restart({ from: "b" });
        await (await shape("waits")).restart({ from: "second" });
      },
    ],
    ["the steered went on", () => story.runUntilIdle()],
    [
      "minutes passed, and what is inside a failed step waits for its retry",
      () => story.advance("2 minutes"),
    ],
    [
      "an event came for what nobody asks for yet",
      async () => (await shape("retries-inside")).sendEvent({ type: "paid" }),
    ],
    ["nobody took it", () => story.runUntilIdle()],
    [
      "the paused went on",
      async () => {
        for (const id of ["races", "is-at-work"] as const) await (await shape(id)).resume();
        await (await CLOUD.get("sleeps")).resume();
      },
    ],
    [
      "a failed step was repaired",
      async () => {
        props.fixed = true;
        await (await shape("fails-until-it-is-fixed")).retryFailedStep({ delay: "1 minute" });
        await (await shape("fails")).retryFailedStep();
      },
    ],
    ["a runner died with work in its hands", () => killed(story)],
    ["another took over", () => story.advance("3 minutes")],
    ["the last body came to its end", () => props.gate.open()],
    ["days passed", () => story.advance("4 days")],
    ["years passed", () => story.advance("400 days")],
  ];
}

/** Held by a process that is gone. */
async function killed(story: Stage): Promise<void> {
  const { SHAPES } = story.workflows;
  await SHAPES.create({ id: "orphan", params: { does: "is-at-work" } });
  await story.runner("mortal").tick();
  story.runner("mortal").kill();
}
