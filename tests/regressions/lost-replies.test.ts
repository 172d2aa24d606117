/** A reply that is lost costs time and nothing else: what was asked happens once. */
import { defineWorkflow } from "everstep";
import { storeFailure } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const child = defineWorkflow({ name: "child" }, async () => "ran");

const busy = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
  step.log.info("begun");
  const flaky = await step.do("flaky", { retries: { limit: 3, delay: 1000 } }, async ({ attempt }) => {
    step.log.info(`attempt ${attempt}`);
    if (attempt < 3) throw new Error("not yet");
    return attempt;
  });
  await step.do("children", async (context) => {
    context.startWorkflow("child", { id: `${instanceId}-child` });
    context.sendEvent({ workflow: "w", id: instanceId }, { type: "own", payload: "own" });
  });
  await step.sleep("nap", "1 minute");
  const own = await step.waitForEvent<string>("own", { type: "own" });
  const sent = await step.waitForEvent<string>("sent", { type: "sent" });
  return [flaky, own.payload, sent.payload];
});

onEachStore("lost replies", (tell) => {
  test.each([
    ["second", 2],
    ["third", 3],
    ["fifth", 5],
  ])("R-073 of every %s write: nothing is done twice", async (_title, nth) => {
    const story = tell({ W: busy, CHILD: child });
    const main = story.runner();
    let writes = 0;
    const lost = new Set<string>();
    main.faults.plan((call) => {
      if (call.method !== "write") return null;
      // A request is given up after so many answers in a row are lost: none of them meets that here.
      const name = JSON.stringify(call.requests[0]);
      const isRepeated = lost.delete(name);
      if (++writes % nth !== 0 || isRepeated) return null;
      lost.add(name);
      return async (apply) => {
        await apply();
        throw storeFailure("ambiguous");
      };
    });
    const ids = ["a", "b", "c", "d", "e"];
    const acting = Promise.all(
      ids.map(async (id) => {
        const instance = await main.workflows.W.create({ id });
        await instance.sendEvent({ type: "sent", payload: `to ${id}` });
        await main.app.publish("nobody", id);
      }),
    );
    await story.advance("2 minutes");
    await acting;
    await story.advance("30 minutes");
    for (const id of ids) {
      expect(await story.status(id)).toEqual({ status: "complete", output: [3, "own", `to ${id}`] });
      const { runNumber, steps, events } = await story.history(id);
      expect(runNumber).toBe(1);
      expect(
        steps.map(({ name, attempts, starts, errors }) => [name, attempts, starts, errors.length]),
      ).toEqual([
        ["flaky", 3, 3, 2],
        ["children", 1, 1, 0],
        ["nap", 0, 0, 0],
        ["own", 0, 0, 0],
        ["sent", 0, 0, 0],
      ]);
      expect(events.map(({ type }) => type).toSorted()).toEqual(["own", "sent"]);
      const lines = (await story.logs(id)).filter(
        ({ isReplay, category }) => !isReplay && category !== "system",
      );
      expect(lines.map(({ message }) => message)).toEqual(["begun", "attempt 1", "attempt 2", "attempt 3"]);
    }
    expect((await story.workflows.CHILD.list()).items).toHaveLength(ids.length);
    expect(writes).toBeGreaterThan(10);
  });
});

const hopeless = defineWorkflow({ name: "hopeless" }, async (_event, step) => {
  await step.do("first", () => 1);
  await step.do("call", { retries: false }, () => {
    throw new Error("no answer");
  });
});

onEachStore("decisions under a key", (tell) => {
  const key = { idempotencyKey: "key-1" };
  type Instance = Awaited<ReturnType<ReturnType<typeof story>["workflows"]["H"]["create"]>>;
  const story = () => tell({ H: hopeless });
  type Decision = (instance: Instance) => Promise<void>;
  const decisions: readonly (readonly [verb: string, status: string, decide: Decision])[] = [
    ["restart", "active", (instance) => instance.restart(key)],
    ["restart from a step", "active", (instance) => instance.restart({ from: "call", ...key })],
    ["retry", "active", (instance) => instance.retryFailedStep(key)],
    ["terminate", "terminated", async (instance) => instance.terminate(key)],
    ["pause", "paused", (instance) => instance.pause(key)],
    ["resume", "active", (instance) => instance.resume(key)],
  ];

  test.each(decisions)(
    "a %s is one write, so is its repeat, and one whose answer was lost is made once (R-073)",
    async (verb, status, decide) => {
      const harness = story();
      const main = harness.runner();
      const instance = await main.workflows.H.create({ id: "h" });
      await main.tick();
      if (verb !== "retry" && !verb.startsWith("restart")) await instance.restart();
      if (verb === "resume") await instance.pause();
      const { runNumber } = await instance.details();
      const writes = () => main.faults.count("change");
      let before = writes();
      main.faults.fail("change", "ambiguous", { applied: true });
      const deciding = decide(instance);
      // Only the clock: a runner that ticks now may run what is due before the decision reaches the store.
      await harness.clock.advance("10 seconds");
      await deciding;
      expect(writes() - before).toBe(2);
      const decided = { status, runNumber: verb.startsWith("restart") ? runNumber + 1 : runNumber };
      expect(await instance.details()).toMatchObject(decided);
      before = writes();
      await decide(instance);
      expect(writes() - before).toBe(1);
      expect(await instance.details()).toMatchObject(decided);
    },
  );
});
