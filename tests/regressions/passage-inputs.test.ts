/** What author code is given is its own, and the same in every passage. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

/** Does its worst to whatever it was given; what is frozen stays as it is. */
function spoil(thing: unknown, by: string, seen = new Set<unknown>()): void {
  if ((typeof thing !== "object" && typeof thing !== "function") || thing === null || seen.has(thing)) return;
  seen.add(thing);
  const target = thing as Record<string, unknown>;
  for (const key of Object.keys(target)) spoil(target[key], by, seen);
  for (const key of [...Object.keys(target), "spoiled"]) {
    try {
      if (typeof target[key] !== "function") target[key] = `spoiled by ${by}`;
    } catch {}
  }
}

const shown = (thing: unknown): string => JSON.stringify(thing);

onEachStore("inputs of passages", (tell) => {
  test("R-043 what two instances on one runner do to what they are given crosses to neither, nor to their next passage", async () => {
    const gates = [createGate(), createGate()];
    const seen: Record<string, string[]> = { a: [], b: [] };
    const config = { retries: { limit: 2, delay: 1000 }, timeout: "1 minute" } as const;
    const workflow = defineWorkflow<{ deep: { list: string[] } }>({ name: "w" }, async (event, step) => {
      const { instanceId } = event;
      seen[instanceId]?.push(shown([event.payload, event.timestamp, event.workflowName, Object.keys(step)]));
      spoil(event, instanceId);
      spoil(step, instanceId);
      for (const [n, gate] of gates.entries()) {
        await step.do(`step ${n}`, config, async (context) => {
          seen[instanceId]?.push(shown([context, context.idempotencyKey, context.signal.aborted]));
          spoil(context, instanceId);
          await gate.wait();
        });
      }
      const result = await step.do("result", async () => ({ deep: { list: ["mine"] } }));
      seen[instanceId]?.push(shown(result));
      spoil(result, instanceId);
      await step.sleep("nap", "1 minute");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const ids = ["a", "b"];
    await story.workflows.W.createBatch(ids.map((id) => ({ id, params: { deep: { list: ["given"] } } })));
    // Both are in the same step at the same time.
    await story.tick();
    for (const gate of gates) await gate.open();
    await story.advance("2 minutes");
    expect(await story.app.counts()).toMatchObject({ complete: 2 });
    const [a = [], b = []] = ids.map((id) => seen[id]?.map((text) => text.replaceAll(`w/${id}/`, "w/?/")));
    expect(a.join("\n")).not.toContain("spoiled");
    expect(a).toEqual(b);
    // Two passages: the second was given what the first was given.
    expect(a).toHaveLength(6);
    expect([a[4], a[5]]).toEqual([a[0], a[3]]);
    expect(config).toEqual({ retries: { limit: 2, delay: 1000 }, timeout: "1 minute" });
  });

  test("R-044 (INV-19) a line is marked as replayed exactly when it is written again, whoever looks meanwhile", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.log.info("begin");
      await step.do("one", async () => step.log.info("in one"));
      await step.log.info("between");
      await step.sleep("nap", "1 minute");
      await step.log.info("slept");
      await step.do("two", async () => step.log.info("in two"));
      await step.log.info("after two");
      await step.waitForEvent("note", { type: "note" });
      await step.log.info("end");
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    const look = async (): Promise<void> => {
      await Promise.all([
        instance.details(),
        instance.history(),
        instance.logs(),
        instance.status(),
        instance.runs(),
      ]);
    };
    await story.runUntilIdle();
    for (let crash = 0; crash < 2; crash++) {
      await look();
      await story.restartRunner();
      await look();
      await story.advance("1 minute");
    }
    await story.sendEvent("i", { type: "note" });
    await look();
    await story.runUntilIdle();
    const lines = (await story.logs("i")).filter(({ category }) => category !== "system");
    const first = lines.filter(({ isReplay }) => !isReplay).map(({ message }) => message);
    expect(first).toEqual(["begin", "in one", "between", "slept", "in two", "after two", "end"]);
    const again = lines.filter(({ isReplay }) => isReplay).map(({ message }) => message);
    // Once by the process that woke from the nap, once by the one that got the note; never from inside a step.
    expect(again).toEqual(["begin", "between", "begin", "between", "slept", "after two"]);
  });

  test("R-046 (INV-18) time of creation, payload and id are the same in every passage, process and run, whatever the clock says", async () => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      const { timestamp, payload, instanceId, workflowName } = event;
      seen.push([timestamp.getTime(), shown(payload), payload.at.getTime(), instanceId, workflowName]);
      timestamp.setFullYear(1970);
      payload.list.push("more");
      payload.at.setFullYear(1970);
      for (let n = 0; n < 3; n++) await step.sleep(`nap ${n}`, "1 hour");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const createdAt = story.runtime.now();
    const at = new Date(createdAt + 123);
    const instance = await story.workflows.W.create({ id: "i", params: { list: ["a"], at } });
    const before = shown({ list: ["a"], at });
    for (let run = 0; run < 2; run++) {
      for (let n = 0; n < 4; n++) {
        await story.advance("50 minutes");
        // Another process, on a host whose clock is off.
        const runner = await story.restartRunner();
        runner.skewClock(n % 2 === 0 ? 0 : "10 minutes");
      }
      await story.advance("1 hour");
      expect((await story.status("i")).status).toBe("complete");
      if (run === 0) await instance.restart();
    }
    expect(seen.length).toBeGreaterThanOrEqual(8);
    expect(seen).toEqual(seen.map(() => [createdAt, before, at.getTime(), "i", "w"]));
  });
});
