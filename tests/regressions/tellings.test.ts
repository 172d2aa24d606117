/** What is told to hooks is kept like any other work: a process that dies while it tells loses nothing. */
import { defineWorkflow, type Transition } from "everstep";
import { createGate } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const leaseMs = 30_000;
const work = defineWorkflow({ name: "work" }, async (_event, step) => step.do("work", async () => "done"));

onEachStore("tellings", (tell) => {
  const tellEnded = async (onEnded: (transition: Transition) => unknown) => {
    const told: Transition[] = [];
    const hooks = {
      onEnded(transition: Transition) {
        told.push(transition);
        return onEnded(transition);
      },
    };
    const story = tell({ WORK: work }, { hooks });
    await story.workflows.WORK.create({ id: "i" });
    return { story, told };
  };

  describe("R-026 a process that dies between taking a telling and reporting it told", () => {
    test.each([
      ["before the hook was called", "stopAfter", "claim"],
      ["after the hook returned", "stopBefore", "commit"],
    ] as const)("%s: it is told again after its lease, as the same", async (_title, place, verb) => {
      const { story, told } = await tellEnded(() => {});
      await story.tick({ maxInstances: 1 });
      expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
      const doomed = story.runner("doomed");
      const stop = doomed[place](verb);
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      const before = told.length;
      expect(before).toBe(verb === "claim" ? 0 : 1);
      doomed.kill();
      await story.clock.advance(leaseMs - 1);
      expect(await story.tick()).toBe(0);
      await story.clock.advance(1);
      expect(await story.tick()).toBe(1);
      expect(told).toHaveLength(before + 1);
      expect(new Set(told.map(({ id }) => id)).size).toBe(1);
      expect(told.at(-1)).toMatchObject({
        workflowName: "work",
        instanceId: "i",
        runNumber: 1,
        status: "complete",
      });
      // Told is told.
      await story.advance("1 day");
      expect(told).toHaveLength(before + 1);
    });

    test("while the hook is at it: the telling is nobody else's until the lease has run out", async () => {
      const gate = createGate();
      const { story, told } = await tellEnded(() => gate.wait());
      await story.tick({ maxInstances: 1 });
      const doomed = story.runner("doomed");
      await doomed.tick();
      expect(told).toHaveLength(1);
      await story.clock.advance("5 minutes");
      expect(await story.tick()).toBe(0);
      doomed.kill();
      await story.clock.advance(leaseMs);
      await story.tick();
      expect(told).toHaveLength(2);
      await gate.open();
      await story.advance("1 day");
      expect(told).toHaveLength(2);
    });
  });

  test("R-026 nothing is told of a run whose end was not written, and nothing is lost of one whose was", async () => {
    for (const place of ["stopBefore", "stopAfter"] as const) {
      const { story, told } = await tellEnded(() => {});
      const doomed = story.runner("doomed");
      const stop = doomed[place]("commit");
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      doomed.kill();
      await story.runUntilIdle();
      expect(told).toHaveLength(place === "stopBefore" ? 0 : 1);
      await story.advance("1 minute");
      expect(told).toHaveLength(1);
    }
  });
});
