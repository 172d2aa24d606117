import { describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;

describe("events", () => {
  test("one that is there before the wait is taken without a wait, and its consumption commits with the step", async () => {
    const stage = stageOf(async (step) => {
      const { payload, type, timestamp } = await step.waitForEvent("approval", { type: "approved" });
      return { payload, type, isDate: timestamp instanceof Date };
    });
    stage.accept({ type: "approved", payload: { by: "ann" } });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["approval completed, complete"]);
    expect(stage.last.consumed).toEqual([{ seq: 1, stepKey: "approval" }]);
    expect(stage.last.next).toMatchObject({
      output: { json: '{"payload":{"by":"ann"},"type":"approved","isDate":true}' },
    });
  });

  test("several of one type are taken oldest first, one per wait, others stay", async () => {
    const stage = stageOf(async (step) => {
      const got: unknown[] = [];
      for (const at of [1, 2]) got.push((await step.waitForEvent(`n${at}`, { type: "n" })).payload);
      return got;
    });
    for (const payload of ["a", "b", "c"]) stage.accept({ type: "n", payload });
    stage.accept({ type: "other" });
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '["a","b"]' } });
    expect(stage.events.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  test("one that arrives while a body holds the turn open reaches the wait", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([step.do("long", () => body.promise), step.waitForEvent("approval", { type: "approved" })]),
    );
    await stage.play();
    stage.accept({ type: "approved" });
    stage.turn.eventsArrived();
    await stage.runtime.settle();
    expect(stage.step("approval").status).toBe("completed");
    expect(stage.last).toMatchObject({ eventSeqSeen: 1, consumed: [{ seq: 1 }] });
  });

  test("a commit that says there are newer events makes the turn look", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([step.do("long", () => body.promise), step.waitForEvent("approval", { type: "approved" })]),
    );
    stage.hold();
    await stage.play();
    stage.accept({ type: "approved" });
    stage.letGo();
    await stage.held[0]?.answer();
    expect(stage.step("approval").status).toBe("completed");
  });

  test("a suspending commit that finds an event says the run is due now", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved" }));
    stage.hold();
    await stage.play();
    expect(stage.last).toMatchObject({ eventSeqSeen: 0, next: { kind: "suspend" } });
    stage.accept({ type: "approved" });
    stage.letGo();
    await stage.held[0]?.answer(stage.committed({ dueNow: true }));
    expect(stage.ending).toEqual({ kind: "suspended", dueAt: stage.runtime.now() });
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
  });

  test("one that is younger than the deadline is not taken, however late the turn", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }));
    await stage.play();
    await stage.runtime.advance(hour + 1);
    stage.accept({ type: "approved" });
    expect(await stage.play()).toMatchObject({ next: { kind: "error" } });
    expect(stage.step("approval")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
  });

  test("one that came before the deadline is taken though the turn is late", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }));
    await stage.play();
    stage.accept({ type: "approved" });
    await stage.runtime.advance(2 * hour);
    expect(await stage.play()).toMatchObject({ next: { kind: "complete" } });
  });

  test("a skipped sleep is over at once, and the event that skipped it is used up", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"));
    await stage.play();
    stage.accept({ forStep: "nap", system: true });
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
    expect(stage.last.consumed).toEqual([{ seq: 1, stepKey: "nap" }]);
  });

  test("onConsume runs before the wait completes, and its writes commit with the consumption", async () => {
    const seen: unknown[] = [];
    const mutation = (): void => {};
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", {
        type: "approved",
        onConsume: ({ payload }, tx) => {
          seen.push(payload);
          tx.mutate(mutation);
        },
      });
      seen.push("completed");
    });
    stage.accept({ type: "approved", payload: 7 });
    await stage.play();
    expect(seen).toEqual([7, "completed"]);
    expect(stage.commits[0]?.mutations).toEqual({ serviceCalls: [], mutate: [mutation] });
    expect(stage.boundaries.map(told)).toEqual(["approval completed, continue", "complete"]);
  });

  test("a failing onConsume fails the wait and leaves the event", async () => {
    const stage = stageOf(async (step) => {
      const refuse = (): void => {
        throw new Error("not now");
      };
      await step.waitForEvent("first", { type: "n", onConsume: refuse }).catch(() => {});
      return (await step.waitForEvent("second", { type: "n" })).payload;
    });
    stage.accept({ type: "n", payload: "kept" });
    await stage.play();
    expect(stage.step("first")).toMatchObject({ status: "errored", error: { message: "not now" } });
    expect(stage.last.next).toMatchObject({ output: { json: '"kept"' } });
  });
});

describe("timeouts of waits", () => {
  test("are committed before the author hears of them", async () => {
    let heard = false;
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }).catch(() => {
        heard = true;
      });
    });
    await stage.play();
    await stage.runtime.advance(hour);
    stage.hold();
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["approval waiting, suspend", "approval timed out, continue"]);
    expect(stage.last.timeouts[0]?.wait).toMatchObject({ key: "approval", status: "waiting" });
    expect(heard).toBe(false);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(heard).toBe(true);
  });

  test("are refused when an event is there, and the wait takes it", async () => {
    const stage = stageOf(async (step) => {
      const { payload } = await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" });
      return payload;
    });
    await stage.play();
    const createdAt = stage.runtime.now();
    await stage.runtime.advance(hour);
    stage.hold();
    await stage.play();
    expect(stage.last).toMatchObject({ eventSeqSeen: 0, timeouts: [{ settled: { key: "approval" } }] });
    stage.accept({ type: "approved", payload: "in time", createdAt });
    stage.letGo();
    await stage.held[0]?.answer(stage.committed({ timeoutsRefused: true }));
    expect(stage.ending).toMatchObject({
      kind: "ended",
      next: { kind: "complete", output: { json: '"in time"' } },
    });
    expect(stage.step("approval").status).toBe("completed");
  });

  test("are refused, and the turn does not rest before it has read the event", async () => {
    const read = held();
    const stage = stageOf((step) =>
      Promise.all([
        step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }).then(({ payload }) => payload),
        step.sleep("long", "30 days"),
      ]),
    );
    await stage.play();
    const createdAt = stage.runtime.now();
    await stage.runtime.advance(hour);
    stage.hold();
    await stage.play();
    stage.accept({ type: "approved", payload: "in time", createdAt });
    stage.letGo();
    const commits = stage.commits.length;
    stage.reading = read.promise;
    await stage.held[0]?.answer(stage.committed({ timeoutsRefused: true }));
    await stage.runtime.settle();
    expect(stage.commits.length).toBe(commits);
    expect(stage.ending).toBeUndefined();
    stage.reading = null;
    read.resolve(undefined);
    await stage.runtime.settle();
    expect(stage.step("approval").status).toBe("completed");
  });

  test("say what was seen when they were decided, not what arrived before they were sent", async () => {
    const [slow, first] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all([
        step.do("slow", { timeout: "2 hours" }, () => slow.promise),
        step.do("first", { timeout: "2 hours" }, () => first.promise),
        step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }),
      ]),
    );
    await stage.play();
    stage.hold();
    first.resolve(1);
    await stage.runtime.settle();
    // The wait times out while a commit is under way; an event that came in time is noticed only now.
    const createdAt = stage.runtime.now();
    await stage.runtime.advance(hour);
    stage.accept({ type: "approved", createdAt });
    stage.turn.eventsArrived();
    await stage.runtime.settle();
    await stage.held[0]?.answer();
    expect(stage.last.timeouts).toHaveLength(1);
    expect(stage.last.eventSeqSeen).toBe(0);
    stage.letGo();
    await stage.held[1]?.answer(stage.committed({ timeoutsRefused: true }));
    expect(stage.step("approval").status).toBe("completed");
  });

  test("a caught one is thrown again on replay, of the same kind", async () => {
    const names: string[] = [];
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }).catch((error) => {
        names.push(`${error.constructor.name} ${error.code}`);
      });
      await step.sleep("nap", "1 hour");
    });
    await stage.play();
    await stage.runtime.advance(hour);
    await stage.play();
    await stage.play();
    expect(names).toEqual(Array(2).fill("WaitForEventTimeoutError WAIT_FOR_EVENT_TIMEOUT"));
  });
});
