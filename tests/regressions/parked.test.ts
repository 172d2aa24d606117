/** A run is parked only on what can happen without it. */
import { defineWorkflow, type WorkflowDefinition } from "everstep";
import type { InstanceRecord, StepRecord, Store } from "everstep/store";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const retries = { limit: 2, delay: "10 seconds", backoff: "constant" } as const;

const failTwice = async ({ attempt }: { readonly attempt: number }): Promise<string> => {
  if (attempt < 3) throw new Error("not yet");
  return "done";
};

/** Every way to wait, alone and beside others. */
const programs: Record<string, WorkflowDefinition["run"]> = {
  "a sleep": async (_event, step) => step.sleep("nap", "1 minute"),
  "a sleep until a time": async (event, step) => step.sleepUntil("nap", event.timestamp.getTime() + 60_000),
  "an event": async (_event, step) => step.waitForEvent("note", { type: "note", timeout: "1 minute" }),
  "a retry": async (_event, step) => step.do("flaky", { retries }, failTwice),
  "a topic": async (_event, step) => step.waitForEvent("news", { topic: "news", timeout: "1 minute" }),
  "a sleep beside an event and a retry": async (_event, step) =>
    Promise.allSettled([
      step.sleep("nap", "2 minutes"),
      step.waitForEvent("note", { type: "note", timeout: "1 minute" }),
      step.do("flaky", { retries }, failTwice),
    ]),
  "the slower of two in a race": async (_event, step) => {
    await Promise.race([step.sleep("short", "1 second"), step.sleep("long", "1 minute")]);
    await step.sleep("after", "1 second");
  },
  "a wait inside a step": async (_event, step) =>
    step.do("outer", { timeout: "1 hour" }, async () => {
      await step.sleep("inner", "1 minute");
      return step.do("flaky", { retries }, failTwice);
    }),
  "what nobody awaits": async (_event, step) => {
    void step.sleep("forgotten", "1 hour");
    await step.sleep("nap", "1 minute");
  },
  "author code that is slower than its wait": async (_event, step) => {
    const wait = step.sleep("nap", "1 minute");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await wait;
    await step.do("after", async () => "done");
  },
};

const workflows = Object.fromEntries(
  Object.entries(programs).map(([title, run], n) => [title, defineWorkflow({ name: `p${n}` }, run)]),
);

async function stepsOf(store: Store, { runId }: InstanceRecord): Promise<readonly StepRecord[]> {
  return (await store.listSteps(runId, { limit: 100 })).items;
}

/** Not ended, not in anybody's hands: then it is due at a time, and that is the earliest of its open waits. */
async function expectWaker(store: Store, record: InstanceRecord): Promise<void> {
  const { status, executing, dueAt, workflowName } = record;
  if (executing || ["complete", "errored", "terminated"].includes(status)) return;
  expect(dueAt, workflowName).not.toBeNull();
  if (status !== "waiting") return;
  const open = (await stepsOf(store, record)).filter((step) => step.status === "waiting");
  expect(open.length, workflowName).toBeGreaterThan(0);
  expect(dueAt, workflowName).toBe(Math.min(...open.map(({ wakeAt }) => wakeAt ?? Number.POSITIVE_INFINITY)));
}

onEachStore("parked runs", (tell) => {
  test.each([0, 1000])(
    "R-021 (INV-37, LIV-1) a run that nobody holds is due, and comes to its end by itself (%i residents)",
    async (maxResidents) => {
      const story = tell(workflows, { runner: { maxResidents } });
      for (const handle of Object.values(story.workflows)) await handle.create({ id: "i" });
      const { store } = story.app;
      for (let look = 0; look < 40; look++) {
        await story.runUntilIdle();
        const { items } = await store.listInstances({ limit: 100 });
        for (const record of items) await expectWaker(store, record);
        await story.clock.advance("5 seconds");
      }
      // Author code that waits for a real timer takes its own time.
      await expect
        .poll(async () => {
          await story.runUntilIdle();
          await story.clock.advance("5 seconds");
          return story.app.counts();
        })
        .toMatchObject({ active: 0, waiting: 0 });
    },
  );
});
