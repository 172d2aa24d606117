/** An event in the very moment in which its wait, its run or its instance ends: whoever wins, the history can be replayed. */
import { defineWorkflow } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const hour = 60 * 60 * 1000;

onEachStore("events at the last moment", (tell) => {
  const tellWait = async () => {
    const passages: unknown[][] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const seen: unknown[] = [];
      passages.push(seen);
      const wait = step.waitForEvent<string>("wait", { type: "note", timeout: "1 hour" });
      seen.push(
        await wait.then(
          ({ payload }) => payload,
          ({ code }) => code,
        ),
      );
      await step.do("after", async () => "after");
      await step.sleep("nap", "1 hour");
      const next = step.waitForEvent<string>("next", { type: "note", timeout: "1 hour" });
      seen.push(
        await next.then(
          ({ payload }) => payload,
          ({ code }) => code,
        ),
      );
      return seen;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("1 hour");
    return { story, instance, passages };
  };
  type Story = Awaited<ReturnType<typeof tellWait>>;

  /** Every later passage sees what the first one to get there saw. */
  const expectReplayable = async ({ story, passages }: Story, first: unknown): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      await story.restartRunner();
      await story.advance("50 minutes");
    }
    const { status, output } = await story.status("i");
    expect([status, output?.[0]]).toEqual(["complete", first]);
    const known = passages.filter((seen) => seen.length > 0);
    expect(new Set(known.map(([seen]) => seen))).toEqual(new Set([first]));
    const { events } = await story.history("i");
    const takers = events.flatMap(({ consumedByStepKey }) => consumedByStepKey ?? []);
    expect(new Set(takers).size).toBe(takers.length);
  };

  describe("R-037 an event in the instant of a timeout", () => {
    test.each([
      ["that was not decided yet", null],
      ["that was decided, and not yet written", "stopBefore"],
      ["that was written, and nobody has heard of it", "stopAfter"],
    ] as const)("%s: one of them wins, for good", async (_title, place) => {
      const told = await tellWait();
      const { story } = told;
      const slow = story.runner("slow");
      const stop = place === null ? null : slow[place]("commit", { step: "wait" });
      if (stop) await slow.tick();
      await story.sendEvent("i", { type: "note", payload: "just in time" });
      await stop?.continue();
      await story.runUntilIdle();
      const isTooLate = place === "stopAfter";
      await expectReplayable(told, isTooLate ? "WAIT_FOR_EVENT_TIMEOUT" : "just in time");
      const { events } = await story.history("i");
      // One that lost is there for the next wait, and for no other.
      expect(events.map(({ consumedByStepKey }) => consumedByStepKey)).toEqual([isTooLate ? "next" : "wait"]);
    });

    test("a millisecond later it is the timeout, also when the tick is late", async () => {
      const told = await tellWait();
      await told.story.clock.advance(1);
      await told.story.sendEvent("i", { type: "note", payload: "too late" });
      await told.story.runUntilIdle();
      await expectReplayable(told, "WAIT_FOR_EVENT_TIMEOUT");
    });
  });

  describe("R-037 an event in the instant of a restart", () => {
    test.each(["event first", "restart first"])(
      "%s: it belongs to one run, and both can be read",
      async (order) => {
        const told = await tellWait();
        const { story, instance } = told;
        const acts = [
          () => story.sendEvent("i", { type: "note", payload: "at the last moment" }),
          () => instance.restart(),
        ];
        if (order === "restart first") acts.reverse();
        await Promise.all(acts.map((act) => act()));
        await story.runUntilIdle();
        const runs = await Promise.all([1, 2].map((runNumber) => story.history("i", { runNumber })));
        expect(runs.map(({ events }) => events.length).toSorted()).toEqual([0, 1]);
        const isOfNewRun = runs[1]?.events.length === 1;
        await story.advance(hour);
        told.passages.length = 0;
        await expectReplayable(told, isOfNewRun ? "at the last moment" : "WAIT_FOR_EVENT_TIMEOUT");
      },
    );
  });

  describe("R-037 an event in the instant of a termination", () => {
    test.each(["event first", "termination first"])(
      "%s: it is taken or refused, and what was recorded can be gone on from",
      async (order) => {
        const told = await tellWait();
        const { story, instance } = told;
        await story.runUntilIdle();
        const send = () =>
          story.sendEvent("i", { type: "note", payload: "at the last moment" }).then(
            () => "accepted",
            ({ code }) => code,
          );
        const isFirst = order === "event first";
        const answer = isFirst ? await send() : null;
        await instance.terminate();
        expect(answer ?? (await send())).toBe(isFirst ? "accepted" : "INSTANCE_TERMINAL");
        await story.advance(hour);
        expect(await story.status("i")).toEqual({ status: "terminated" });
        await instance.restart({ from: "nap" });
        await story.advance(3 * hour);
        expect(await story.status("i")).toEqual({
          status: "complete",
          output: ["WAIT_FOR_EVENT_TIMEOUT", "WAIT_FOR_EVENT_TIMEOUT"],
        });
      },
    );
  });
});
