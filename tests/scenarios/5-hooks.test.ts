import { defineWorkflow, type Transition } from "everstep";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

const short = (transition: Transition) =>
  `${transition.instanceId} run ${transition.runNumber} ${transition.status}`;

onEachStore("4.5 Lifecycle callbacks", (tell) => {
  const work = defineWorkflow({ name: "work" }, async (event, step) => {
    if (event.payload.fail) throw new Error("failed");
    if (event.payload.wait) await step.waitForEvent("go", { type: "go" });
    return "done";
  });

  test("129. callbacks fire after the commit with the run number; a run completed twice gives two", async () => {
    const told: string[] = [];
    const seen: string[] = [];
    const story = tell(
      { WORK: work },
      {
        hooks: {
          onEnded: async (transition) => {
            told.push(`ended ${short(transition)}`);
            seen.push((await (await story.workflows.WORK.get(transition.instanceId)).status()).status);
          },
          onRestarted: (transition) => void told.push(`restarted ${short(transition)}`),
        },
      },
    );
    const one = await story.workflows.WORK.create({ id: "one", params: {} });
    await story.workflows.WORK.create({ id: "two", params: { fail: true } });
    const three = await story.workflows.WORK.create({ id: "three", params: { wait: true } });
    await story.runUntilIdle();
    await three.terminate();
    await story.runUntilIdle();
    await one.restart();
    await story.runUntilIdle();
    expect(told.toSorted()).toEqual([
      "ended one run 1 complete",
      "ended one run 2 complete",
      "ended three run 1 terminated",
      "ended two run 1 errored",
      "restarted one run 1 complete",
    ]);
    expect(seen.toSorted()).toEqual(["complete", "complete", "errored", "terminated"]);
  });

  test("129. a callback that fails is told again with the same transition id, and the run is not affected", async () => {
    const ids: string[] = [];
    const story = tell(
      { WORK: work },
      {
        hooks: {
          onEnded: ({ id }) => {
            ids.push(id);
            if (ids.length < 3) throw new Error("the receiver is down");
          },
        },
      },
    );
    await story.workflows.WORK.create({ id: "one", params: {} });
    await story.advance("1 minute");
    expect((await story.status("one")).status).toBe("complete");
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  test("129. a callback that a crash cut off is told again by the next process", async () => {
    const told: string[] = [];
    const story = tell(
      { WORK: work },
      { hooks: { onEnded: (transition) => void told.push(short(transition)) } },
    );
    await story.workflows.WORK.create({ id: "one", params: {} });
    const stop = story.runner().stopAfter("commit");
    await story.tick();
    expect(stop.isReached).toBe(true);
    await story.restartRunner();
    await story.runUntilIdle();
    expect(told).toEqual(["one run 1 complete"]);
  });

  test("a pause that comes before the end is not told as an end", async () => {
    const told: string[] = [];
    const story = tell(
      { WORK: work },
      { hooks: { onEnded: (transition) => void told.push(short(transition)) } },
    );
    const instance = await story.workflows.WORK.create({ id: "one", params: {} });
    const stop = story.runner().stopBefore("commit");
    await story.tick();
    await (await story.runner("other").app.workflows.WORK.get("one")).pause();
    await stop.continue();
    await story.runUntilIdle();
    expect(told).toEqual([]);
    await instance.resume();
    await story.runUntilIdle();
    expect(told).toEqual(["one run 1 complete"]);
  });
});
