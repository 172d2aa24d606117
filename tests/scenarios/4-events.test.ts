import { defineWorkflow, type EventView, type ReceivedEvent, WaitForEventTimeoutError } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { erased } from "../../packages/everstep/src/testing/store-contract/acts.ts";
import { onEachStore } from "./each-store.ts";
import { recordOf, wakeEarly } from "./early-wake.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Waits for one answer and returns it, or says how the wait failed. */
const waiter = defineWorkflow({ name: "w" }, async (_event, step) => {
  const received = await step.waitForEvent("answer", { type: "answer", timeout: "1 hour" });
  return received.payload;
});

/** Waits for as many notes as it is told to, one after the other. */
const collector = defineWorkflow<{ count: number }>({ name: "w" }, async (event, step) => {
  const notes: unknown[] = [];
  for (let n = 0; n < event.payload.count; n++) {
    notes.push((await step.waitForEvent(`note ${n}`, { type: "note" })).payload);
  }
  return notes;
});

/** Waits on a topic and returns what was published. */
const listener = defineWorkflow<{ topic?: string }>({ name: "listener" }, async (event, step) => {
  const { topic = "stock.low" } = event.payload;
  return (await step.waitForEvent("news", { topic, timeout: "1 hour" })).payload;
});

function delivered(events: readonly EventView[]): unknown[][] {
  return events.map(({ payload, deliveredAt, consumedByStepKey }) => [
    payload,
    deliveredAt === null ? "undelivered" : consumedByStepKey,
  ]);
}

onEachStore("4.4 Events", (tell) => {
  test("73. an event sent before the wait is there is consumed by it later", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 hour");
      return (await step.waitForEvent("answer", { type: "answer" })).payload;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "not-begun" });
    await story.sendEvent("not-begun", { type: "answer", payload: "very early" });
    await story.workflows.W.create({ id: "asleep" });
    await story.advance("30 minutes");
    await story.sendEvent("asleep", { type: "answer", payload: "early" });
    expect(await story.runUntilIdle()).toBe(0);
    expect((await recordOf(story, "asleep")).dueAt).toBe(start + hour);
    await story.advance("30 minutes");
    expect(await story.status("not-begun")).toEqual({ status: "complete", output: "very early" });
    expect(await story.status("asleep")).toEqual({ status: "complete", output: "early" });
    expect(delivered((await story.history("asleep")).events)).toEqual([["early", "answer"]]);
  });

  test.each([
    ["before the claim", "stopBefore", "claim", "done"],
    ["after the claim", "stopAfter", "claim", "done"],
    ["before the wait is written", "stopBefore", "commit", "committed"],
    ["after the wait was written, the reply still on its way", "stopAfter", "commit", "committed"],
  ] as const)(
    "74. an event sent to a run whose runner stands %s is not lost (R-018)",
    async (_title, place, verb, answer) => {
      const story = tell({ W: waiter });
      await story.workflows.W.create({ id: "i" });
      const slow = story.runner("slow");
      const stop = slow[place](verb);
      await slow.tick();
      expect(stop.isReached).toBe(true);
      await story.sendEvent("i", { type: "answer", payload: "just then" });
      expect(await stop.continue()).toBe(answer);
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: "just then" });
    },
  );

  test.each([
    ["after the claim", "stopAfter", "claim", 30 * second],
    ["before the wait is written", "stopBefore", "commit", 30 * second],
    ["after the wait was written", "stopAfter", "commit", 0],
  ] as const)("74. nor is it when the runner dies %s (R-018)", async (_title, place, verb, laterMs) => {
    const story = tell({ W: waiter });
    await story.workflows.W.create({ id: "i" });
    const doomed = story.runner("doomed");
    const stop = doomed[place](verb);
    await doomed.tick();
    expect(stop.isReached).toBe(true);
    await story.sendEvent("i", { type: "answer", payload: "just then" });
    doomed.kill();
    if (laterMs > 0) {
      await story.clock.advance(laterMs - 1);
      expect(await story.tick()).toBe(0);
      await story.clock.advance(1);
    }
    expect(await story.tick()).toBe(1);
    expect(await story.status("i")).toEqual({ status: "complete", output: "just then" });
  });

  test("75. several events of one type are consumed oldest first, one per wait", async () => {
    const story = tell({ W: collector }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i", params: { count: 3 } });
    for (const payload of ["one", "two"]) {
      await story.sendEvent("i", { type: "note", payload });
      await story.clock.advance("1 second");
    }
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "waiting" });
    for (const payload of ["three", "four"]) {
      await story.sendEvent("i", { type: "note", payload });
      await story.clock.advance("1 second");
    }
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two", "three"] });
    expect(delivered((await story.history("i")).events)).toEqual([
      ["one", "note 0"],
      ["two", "note 1"],
      ["three", "note 2"],
      ["four", "undelivered"],
    ]);
  });

  test("76. a hundred events of the same millisecond keep the order they were sent in (R-031)", async () => {
    const story = tell({ W: collector });
    await story.workflows.W.create({ id: "i", params: { count: 100 } });
    const notes = Array.from({ length: 100 }, (_, n) => `note number ${99 - n}`);
    for (const payload of notes) await story.sendEvent("i", { type: "note", payload });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: notes });
    const { events } = await story.history("i");
    expect(new Set(events.map(({ createdAt }) => createdAt.getTime()))).toEqual(
      new Set([story.runtime.now()]),
    );
    expect(delivered(events)).toEqual(notes.map((note, n) => [note, `note ${n}`]));
  });

  test("76. the order is that of acceptance, even when the clock was set back in between", async () => {
    const story = tell({ W: collector });
    await story.workflows.W.create({ id: "i", params: { count: 2 } });
    await story.sendEvent("i", { type: "note", payload: "first" });
    story.runtime.setWallClock(story.runtime.now() - hour);
    await story.sendEvent("i", { type: "note", payload: "second" });
    story.runtime.setWallClock(story.runtime.now() + hour);
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["first", "second"] });
  });

  test("R-032 two waits of one type take an event each, also with a crash between them", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.waitForEvent("first", { type: "note" });
      await step.do("between", async () => first.payload);
      const second = await step.waitForEvent("second", { type: "note" });
      return [first.payload, second.payload];
    });
    const story = tell({ W: workflow });
    for (const [n, place] of (["stopBefore", "stopAfter"] as const).entries()) {
      const id = `i${n}`;
      await story.workflows.W.create({ id });
      await story.sendEvent(id, { type: "note", payload: "one" });
      await story.sendEvent(id, { type: "note", payload: "two" });
      const doomed = story.runner(`doomed ${n}`);
      const stop = doomed[place]("commit");
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      doomed.kill();
      await story.advance("31 seconds");
      expect(await story.status(id)).toEqual({ status: "complete", output: ["one", "two"] });
      expect(delivered((await story.history(id)).events)).toEqual([
        ["one", "first"],
        ["two", "second"],
      ]);
    }
  });

  test("77. events of other types stay undelivered and wake nobody", async () => {
    const story = tell({ W: waiter });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "Answer", payload: "other case" });
    await story.sendEvent("i", { type: "answers", payload: "other word" });
    expect(await story.runUntilIdle()).toBe(0);
    expect(await story.status("i")).toEqual({ status: "waiting" });
    expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
    await story.sendEvent("i", { type: "answer", payload: "this one" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "this one" });
    expect(delivered((await story.history("i")).events)).toEqual([
      ["other case", "undelivered"],
      ["other word", "undelivered"],
      ["this one", "answer"],
    ]);
  });

  test("an event of a misspelt type is named by why, beside the one that is waited for", async () => {
    const story = tell({ W: waiter });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance(1);
    await instance.sendEvent({ type: "anwser" });
    await story.advance(1);
    expect(await instance.why()).toMatchObject({
      reason: "waiting-for-event",
      waitsFor: { eventType: "answer" },
      warnings: ['An event of type "anwser" has come that no step asks for; the wait is for "answer".'],
    });
  });

  test("78. at the deadline the wait throws; uncaught, the run is errored and the step recorded so", async () => {
    const story = tell({ W: waiter });
    const start = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance(hour - 1);
    expect(await story.status("i")).toEqual({ status: "waiting" });
    await story.advance(1);
    const error = {
      name: "WaitForEventTimeoutError",
      message: 'WAIT_FOR_EVENT_TIMEOUT: step "answer" got no event of type "answer" within 1 hour.',
      code: "WAIT_FOR_EVENT_TIMEOUT",
    };
    expect(await story.status("i")).toEqual({ status: "errored", error });
    const [step] = (await story.history("i")).steps;
    expect(step).toMatchObject({
      type: "waitForEvent",
      status: "errored",
      waitEventType: "answer",
      wakeAt: new Date(start + hour),
      settledAt: new Date(start + hour),
      error,
    });
    const details = await instance.details();
    expect([details.dueAt, details.deadLetter]).toEqual([null, false]);
  });

  test("79. a caught timeout lets the run go on, and replay throws the same typed error again", async () => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      try {
        await step.waitForEvent("answer", { type: "answer", timeout: "1 hour" });
      } catch (error) {
        seen.push(error);
      }
      await step.sleep("nap", "1 hour");
      return step.do("after", async () => "went on");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("2 hours");
    expect(await story.status("i")).toEqual({ status: "complete", output: "went on" });
    expect(await story.steps("i")).toEqual(["answer errored", "nap completed", "after completed"]);
    expect(seen).toHaveLength(2);
    for (const error of seen) {
      expect(error).toBeInstanceOf(WaitForEventTimeoutError);
      expect(error).toMatchObject({
        name: "WaitForEventTimeoutError",
        message: 'WAIT_FOR_EVENT_TIMEOUT: step "answer" got no event of type "answer" within 1 hour.',
        code: "WAIT_FOR_EVENT_TIMEOUT",
        step: "answer",
        eventType: "answer",
      });
    }
  });

  test("R-030 a wait that timed out does not swallow the next event", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.waitForEvent("a", { type: "answer", timeout: "1 minute" }).catch(() => null);
      const second = await step.waitForEvent("b", { type: "answer", timeout: "1 hour" });
      return [first, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(await story.steps("i")).toEqual(["a errored", "b waiting"]);
    await story.sendEvent("i", { type: "answer", payload: "for b" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: [null, "for b"] });
    expect(delivered((await story.history("i")).events)).toEqual([["for b", "b"]]);
  });

  test.each([0, 1000])(
    "80. a wake before the deadline does not time the wait out (%d residents)",
    async (maxResidents) => {
      const story = tell({ W: waiter }, { runner: { maxResidents } });
      const start = story.runtime.now();
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      await story.clock.advance(hour - 1);
      for (let n = 0; n < 3; n++) {
        expect(await wakeEarly(story, "i")).toBe("woken");
        expect(await story.runUntilIdle()).toBe(1);
        expect(await story.steps("i")).toEqual(["answer waiting"]);
        expect((await recordOf(story, "i")).dueAt).toBe(start + hour);
      }
      await story.sendEvent("i", { type: "answer", payload: "in time" });
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: "in time" });
    },
  );

  test("81. an event created after the deadline is not consumed, even if the tick is late", async () => {
    const story = tell({ W: waiter });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance(hour + 1);
    await story.sendEvent("i", { type: "answer", payload: "too late" });
    await story.clock.advance("1 hour");
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
    expect(delivered((await story.history("i")).events)).toEqual([["too late", "undelivered"]]);
  });

  test.each([
    ["before the deadline", hour - 1],
    ["in the very millisecond of the deadline", hour],
  ])("82. an event created %s is accepted though the tick is late", async (_title, afterMs) => {
    const story = tell({ W: waiter });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance(afterMs);
    await story.sendEvent("i", { type: "answer", payload: "in time" });
    await story.restartRunner();
    await story.clock.advance("1 day");
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "in time" });
  });

  test("82. an event in time wins over a timeout that was decided and not yet written", async () => {
    const story = tell({ W: waiter });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("1 hour");
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    expect(stop.isReached).toBe(true);
    await story.sendEvent("i", { type: "answer", payload: "at the last moment" });
    expect(await stop.continue()).toBe("committed");
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "at the last moment" });
    expect(await story.steps("i")).toEqual(["answer completed"]);
  });

  test("83. the default timeout is 24 hours", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.waitForEvent("answer", { type: "answer" });
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance(day - 1);
    const [step] = (await story.history("i")).steps;
    expect([step?.status, step?.wakeAt]).toEqual(["waiting", new Date(start + day)]);
    await story.advance(1);
    expect((await story.status("i")).status).toBe("errored");
  });

  test("83. a timeout below 1 second or above 365 days is refused, the bounds are accepted", async () => {
    const workflow = defineWorkflow<{ timeout: number | string }>({ name: "w" }, async (event, step) => {
      await step.waitForEvent("answer", { type: "answer", timeout: event.payload.timeout });
    });
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    const refused = [0, 999, "999 ms", 365 * day + 1, "366 days", -1, Number.NaN, "soon"];
    const accepted = [second, "1 second", "365 days", 365 * day];
    for (const timeout of [...refused, ...accepted]) {
      await story.workflows.W.create({ id: idFor(timeout), params: { timeout } });
    }
    await story.runUntilIdle();
    for (const timeout of refused) {
      expect(await story.status(idFor(timeout)), String(timeout)).toMatchObject({
        status: "errored",
        error: { code: "INVALID_DURATION", message: expect.stringContaining('"answer"') },
      });
      expect(await story.steps(idFor(timeout))).toEqual([]);
    }
    const dueIn = accepted.map(async (timeout) => {
      const { dueAt } = await recordOf(story, idFor(timeout));
      return (dueAt ?? Number.NaN) - start;
    });
    expect(await Promise.all(dueIn)).toEqual([second, second, 365 * day, 365 * day]);
  });

  test("84. events sent while paused are kept, and delivered only after resume", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 2 } });
    await story.runUntilIdle();
    await instance.pause();
    await story.sendEvent("i", { type: "note", payload: "one" });
    await story.sendEvent("i", { type: "note", payload: "two" });
    await story.advance("1 hour");
    expect(delivered((await story.history("i")).events)).toEqual([
      ["one", "undelivered"],
      ["two", "undelivered"],
    ]);
    expect(await story.steps("i")).toEqual(["note 0 waiting"]);
    await instance.resume();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
  });

  test("84. what came in time is accepted though the deadline passed during the pause", async () => {
    const story = tell({ W: waiter });
    const instances = [
      await story.workflows.W.create({ id: "in-time" }),
      await story.workflows.W.create({ id: "too-late" }),
    ];
    await story.runUntilIdle();
    for (const instance of instances) await instance.pause();
    await story.sendEvent("in-time", { type: "answer", payload: "while paused" });
    await story.advance("2 hours");
    await story.sendEvent("too-late", { type: "answer", payload: "while paused" });
    for (const instance of instances) await instance.resume();
    await story.runUntilIdle();
    expect(await story.status("in-time")).toEqual({ status: "complete", output: "while paused" });
    expect(await story.status("too-late")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
  });

  test("85. an event that arrives while paused does not change the paused status", async () => {
    const story = tell({ W: waiter }, { autoRun: true });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.settle();
    await instance.pause();
    const before = await instance.details();
    await story.sendEvent("i", { type: "answer", payload: "while paused" });
    await story.advance("10 minutes");
    expect(await instance.details()).toEqual(before);
    expect([before.status, before.dueAt, before.executing]).toEqual(["paused", null, false]);
  });

  test("86. sendEvent to a complete, errored or terminated instance is rejected, and nothing is kept", async () => {
    const workflow = defineWorkflow<{ ending: string }>({ name: "w" }, async (event, step) => {
      if (event.payload.ending === "errored") throw new Error("no");
      if (event.payload.ending === "terminated") await step.sleep("nap", "1 hour");
    });
    const story = tell({ W: workflow });
    const endings = ["complete", "errored", "terminated"];
    for (const ending of endings) await story.workflows.W.create({ id: ending, params: { ending } });
    await story.runUntilIdle();
    await (await story.workflows.W.get("terminated")).terminate();
    for (const ending of endings) {
      expect((await story.status(ending)).status).toBe(ending);
      await expect(story.sendEvent(ending, { type: "answer" })).rejects.toMatchObject({
        code: "INSTANCE_TERMINAL",
        message: expect.stringContaining(ending),
      });
      expect((await story.history(ending)).events).toEqual([]);
    }
  });

  test("87. repeating an idempotency key has no effect, also after the run ended", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 2 } });
    await story.runUntilIdle();
    await instance.sendEvent({ idempotencyKey: "e-1", type: "note", payload: "one" });
    await instance.sendEvent({ idempotencyKey: "e-1", type: "note", payload: "one again" });
    await story.runUntilIdle();
    // Its first sending has been consumed meanwhile.
    await instance.sendEvent({ idempotencyKey: "e-1", type: "note", payload: "one once more" });
    expect(await story.runUntilIdle()).toBe(0);
    expect(await story.status("i")).toEqual({ status: "waiting" });
    await instance.sendEvent({ idempotencyKey: "e-2", type: "note", payload: "two" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
    await instance.sendEvent({ idempotencyKey: "e-2", type: "note", payload: "two, late" });
    expect(delivered((await story.history("i")).events)).toEqual([
      ["one", "note 0"],
      ["two", "note 1"],
    ]);
    await expect(instance.sendEvent({ idempotencyKey: "e-3", type: "note" })).rejects.toMatchObject({
      code: "INSTANCE_TERMINAL",
    });
  });

  test("87. the same key sent many times at once is accepted once", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 1 } });
    const event = { idempotencyKey: "e-1", type: "note", payload: "one" };
    await Promise.all(Array.from({ length: 20 }, () => instance.sendEvent(event)));
    expect((await story.history("i")).events).toHaveLength(1);
  });

  test("87. an idempotency key belongs to its instance, whatever others have got under it", async () => {
    const other = defineWorkflow({ name: "other" }, async (_event, step) => {
      await step.waitForEvent("note", { type: "note" });
    });
    const story = tell({ W: collector, OTHER: other });
    await story.workflows.W.create({ id: "first", params: { count: 1 } });
    await story.workflows.W.create({ id: "second", params: { count: 1 } });
    await story.workflows.OTHER.create({ id: "third" });
    await story.sendEvent("first", { idempotencyKey: "e-1", type: "note", payload: "one" });
    for (const id of ["second", "third"]) {
      await story.sendEvent(id, { idempotencyKey: "e-1", type: "note", payload: id });
      await story.sendEvent(id, { idempotencyKey: "e-1", type: "note", payload: "again" });
      expect((await story.history(id)).events.map((event) => [event.id, event.payload])).toEqual([
        ["e-1", id],
      ]);
    }
    await story.runUntilIdle();
    expect(await story.status("first")).toEqual({ status: "complete", output: ["one"] });
  });

  test("88. an invalid event type is refused by sendEvent and by the wait, 100 characters are accepted", async () => {
    const workflow = defineWorkflow<{ type: string }>({ name: "w" }, async (event, step) => {
      return (await step.waitForEvent("answer", { type: event.payload.type })).payload;
    });
    const story = tell({ W: workflow });
    const refused = ["with space", "-leading-hyphen", "a".repeat(101), "", "a.b", "a:b", "ä", " a", "a\n"];
    const accepted = ["a".repeat(100), "_under_score", "9-lives", "Ready"];
    for (const [n, type] of [...refused, ...accepted].entries()) {
      await story.workflows.W.create({ id: `${n}`, params: { type } });
    }
    await story.runUntilIdle();
    for (const [n, type] of refused.entries()) {
      expect(await story.status(`${n}`), type).toMatchObject({
        status: "errored",
        error: { code: "INVALID_EVENT_TYPE" },
      });
    }
    for (const [n, type] of accepted.entries()) {
      const id = `${refused.length + n}`;
      for (const wrong of [...refused, null, 7] as string[]) {
        await expect(story.sendEvent(id, { type: wrong })).rejects.toMatchObject({
          code: "INVALID_EVENT_TYPE",
        });
      }
      await story.sendEvent(id, { type, payload: n });
      await story.runUntilIdle();
      expect(await story.status(id), type).toEqual({ status: "complete", output: n });
    }
  });

  test("89. a payload over 1 MiB is rejected, one of exactly that size is not", async () => {
    const story = tell({ W: waiter });
    await story.workflows.W.create({ id: "i" });
    // The quotes around the text are stored too.
    const largest = "x".repeat(1024 * 1024 - 2);
    for (const payload of [`${largest}x`, "ä".repeat(512 * 1024), { text: largest }]) {
      await expect(story.sendEvent("i", { type: "answer", payload })).rejects.toMatchObject({
        code: "PAYLOAD_TOO_LARGE",
      });
    }
    expect((await story.history("i")).events).toEqual([]);
    await story.sendEvent("i", { type: "answer", payload: largest });
    await story.runUntilIdle();
    expect((await story.status("i")).output).toBe(largest);
  });

  test.each([0, 1000])(
    "90. a wait gives payload, type and a Date, also after replay (%d residents)",
    async (maxResidents) => {
      const seen: ReceivedEvent[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const received = await step.waitForEvent("answer", { type: "answer" });
        seen.push(received);
        await step.sleep("nap", "1 hour");
      });
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      await story.workflows.W.create({ id: "i" });
      await story.advance("5 minutes");
      const sentAt = story.clock.now();
      const payload = { ok: true, when: new Date(0), none: undefined };
      await story.sendEvent("i", { type: "answer", payload });
      await story.advance("2 hours");
      expect((await story.status("i")).status).toBe("complete");
      expect(seen).toHaveLength(maxResidents === 0 ? 2 : 1);
      for (const received of seen) {
        expect(received).toStrictEqual({ type: "answer", payload, timestamp: sentAt });
        expect(received.timestamp).toBeInstanceOf(Date);
      }
    },
  );

  test("91. many events and many ticks at once on one waiting run converge without errors", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 5 } });
    await story.runUntilIdle();
    const runners = ["a", "b", "c", "d"].map((name) => story.runner(name));
    const send = Array.from({ length: 5 }, (_, n) => instance.sendEvent({ type: "note", payload: n }));
    await Promise.all([...send, ...runners.map((runner) => runner.tick())]);
    await Promise.all(runners.map((runner) => runner.tick()));
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: [0, 1, 2, 3, 4] });
    expect(story.problems).toEqual([]);
  });

  test.each([
    ["claimed the run", "stopAfter", "claim"],
    ["read the first event", "stopAfter", "readRuns"],
    ["is about to write that it took the first event", "stopBefore", "commit"],
    ["has written that it took the first event", "stopAfter", "commit"],
  ] as const)(
    "91. a second event that comes when a runner %s is taken too, by whoever is next",
    async (_title, place, verb) => {
      const story = tell({ W: collector }, { runner: { maxResidents: 0 } });
      await story.workflows.W.create({ id: "i", params: { count: 2 } });
      await story.runUntilIdle();
      await story.sendEvent("i", { type: "note", payload: "one" });
      const slow = story.runner("slow");
      const stop = slow[place](verb);
      await slow.tick();
      expect(stop.isReached).toBe(true);
      await story.sendEvent("i", { type: "note", payload: "two" });
      // The others may take it up only once the first has given it back, and then it is due at once.
      const taken = await Promise.all([story.tick(), story.runner("b").tick()]);
      await stop.continue();
      await story.runUntilIdle({ runners: ["main", "b"] });
      expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
      expect(Math.max(...taken)).toBe(place === "stopAfter" && verb === "commit" ? 1 : 0);
      expect(delivered((await story.history("i")).events)).toEqual([
        ["one", "note 0"],
        ["two", "note 1"],
      ]);
      expect(story.problems).toEqual([]);
    },
  );

  test("93. publish resumes every run that waits on the topic and none else, and says how many", async () => {
    const typed = defineWorkflow({ name: "typed" }, async (_event, step) => {
      await step.waitForEvent("news", { type: "stock" });
    });
    const story = tell({ LISTENER: listener, TYPED: typed });
    for (const id of ["a", "b", "c"]) await story.workflows.LISTENER.create({ id });
    await story.workflows.LISTENER.create({ id: "other-topic", params: { topic: "stock.Low" } });
    await story.workflows.LISTENER.create({ id: "longer-topic", params: { topic: "stock.low.milk" } });
    await story.workflows.LISTENER.create({ id: "not-yet", startAt: story.runtime.now() + minute });
    await story.workflows.TYPED.create({ id: "typed" });
    const paused = await story.workflows.LISTENER.create({ id: "paused" });
    const ended = await story.workflows.LISTENER.create({ id: "ended" });
    await story.runUntilIdle();
    await paused.pause();
    await ended.terminate();
    expect(await story.app.publish("stock.low", { left: 3 })).toEqual({ waiters: 4 });
    expect(await story.runUntilIdle()).toBe(3);
    for (const id of ["a", "b", "c"]) {
      expect(await story.status(id)).toEqual({ status: "complete", output: { left: 3 } });
    }
    for (const id of ["other-topic", "longer-topic", "typed"]) {
      expect(await story.status(id)).toEqual({ status: "waiting" });
      expect((await story.history(id)).events).toEqual([]);
    }
    expect(await story.status("paused")).toEqual({ status: "paused" });
    await paused.resume();
    await story.runUntilIdle();
    expect(await story.status("paused")).toEqual({ status: "complete", output: { left: 3 } });
    // Not retained: who begins to wait later does not get it.
    await story.advance("1 minute");
    expect(await story.status("not-yet")).toEqual({ status: "waiting" });
  });

  test("93. topics have a grammar of their own, and a wait on one throws at its deadline too", async () => {
    const story = tell({ LISTENER: listener });
    for (const topic of ["", ".a", "a b", "a".repeat(129), "ä", null, 7] as string[]) {
      await expect(story.app.publish(topic)).rejects.toMatchObject({ code: "INVALID_TOPIC" });
      await expect(story.app.waiters(topic)).rejects.toMatchObject({ code: "INVALID_TOPIC" });
    }
    await story.workflows.LISTENER.create({ id: "wrong", params: { topic: "a b" } });
    await story.workflows.LISTENER.create({ id: "long", params: { topic: `a.b:c-d_${"e".repeat(120)}` } });
    await story.runUntilIdle();
    expect(await story.status("wrong")).toMatchObject({
      status: "errored",
      error: { code: "INVALID_TOPIC" },
    });
    await story.advance("1 hour");
    expect(await story.status("long")).toMatchObject({
      status: "errored",
      error: { name: "WaitForEventTimeoutError", code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
    expect(await story.app.publish(`a.b:c-d_${"e".repeat(120)}`)).toEqual({ waiters: 0 });
  });

  test("94. what is published is durable before any runner resumes", async () => {
    const story = tell({ LISTENER: listener });
    for (const id of ["a", "b"]) await story.workflows.LISTENER.create({ id });
    await story.runUntilIdle();
    const publishedAt = story.clock.now();
    expect(await story.app.publish("stock.low", { left: 3 })).toEqual({ waiters: 2 });
    for (const id of ["a", "b"]) {
      const { events } = await story.history(id);
      expect(events).toMatchObject([
        {
          type: null,
          topic: "stock.low",
          payload: { left: 3 },
          createdAt: publishedAt,
          deliveredAt: null,
          consumedByStepKey: null,
        },
      ]);
    }
    // The process that published is gone; the others have it from the store.
    await story.restartRunner();
    await story.runUntilIdle({ runners: ["other"] });
    for (const id of ["a", "b"]) {
      expect(await story.status(id)).toEqual({ status: "complete", output: { left: 3 } });
      expect(delivered((await story.history(id)).events)).toEqual([[{ left: 3 }, "news"]]);
    }
  });

  test("95. a wait on a topic is resolved once: a second publication finds none", async () => {
    const story = tell({ LISTENER: listener });
    await story.workflows.LISTENER.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.app.publish("stock.low", "first")).toEqual({ waiters: 1 });
    await story.runUntilIdle();
    expect(await story.app.publish("stock.low", "second")).toEqual({ waiters: 0 });
    expect(await story.status("i")).toEqual({ status: "complete", output: "first" });
    expect(await story.app.waiters("stock.low")).toEqual({ items: [], hasNextPage: false });
  });

  test("95. a wait that has its publication is not found again, though nobody has resumed it yet", async () => {
    const story = tell({ LISTENER: listener });
    await story.workflows.LISTENER.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.app.publish("stock.low", "first")).toEqual({ waiters: 1 });
    expect(await story.app.publish("stock.low", "second")).toEqual({ waiters: 0 });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "first" });
    expect(delivered((await story.history("i")).events)).toEqual([["first", "news"]]);
  });

  test("95. a publication repeated under its key reaches nobody again and is answered alike", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.waitForEvent("first", { topic: "news" });
      const second = await step.waitForEvent("second", { topic: "news" });
      return [first.payload, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.app.publish("news", 1, { idempotencyKey: "p-1" })).toEqual({ waiters: 1 });
    await story.runUntilIdle();
    expect(await story.steps("i")).toEqual(["first completed", "second waiting"]);
    expect(await story.app.publish("news", 1, { idempotencyKey: "p-1" })).toEqual({ waiters: 1 });
    expect(await story.runUntilIdle()).toBe(0);
    expect(await story.app.publish("news", 2, { idempotencyKey: "p-2" })).toEqual({ waiters: 1 });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: [1, 2] });
  });

  test("95. a publication is for the wait that was there: an event wait does not take it", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const settled = await Promise.allSettled([
        step.waitForEvent("topic", { topic: "news", timeout: "1 hour" }),
        step.waitForEvent("type", { type: "news", timeout: "1 hour" }),
      ]);
      return settled.map((wait) => (wait.status === "fulfilled" ? wait.value.payload : "timed out"));
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.app.publish("news", "published");
    await story.advance("1 hour");
    expect(await story.status("i")).toEqual({ status: "complete", output: ["published", "timed out"] });
  });

  test("96. three hundred waiters are all resumed", async () => {
    const story = tell({ LISTENER: listener });
    for (let batch = 0; batch < 3; batch++) {
      const ids = Array.from({ length: 100 }, (_, n) => ({ id: `l-${batch}-${n}` }));
      await story.workflows.LISTENER.createBatch(ids);
    }
    await story.runUntilIdle();
    expect(await story.app.counts()).toMatchObject({ waiting: 300 });
    expect(await story.app.publish("stock.low", "all of you")).toEqual({ waiters: 300 });
    expect(await story.runUntilIdle()).toBe(300);
    expect(await story.app.counts()).toMatchObject({ waiting: 0, complete: 300 });
    for (const id of ["l-0-0", "l-1-50", "l-2-99"]) {
      expect(await story.status(id)).toEqual({ status: "complete", output: "all of you" });
    }
  });

  test("97. the list of waiters shows instance, run, step, topic and deadline", async () => {
    const story = tell({ LISTENER: listener });
    const start = story.runtime.now();
    const first = await story.workflows.LISTENER.create({ id: "a" });
    await story.runUntilIdle();
    await story.clock.advance("10 minutes");
    await story.workflows.LISTENER.create({ id: "b" });
    await story.workflows.LISTENER.create({ id: "other", params: { topic: "stock.high" } });
    await story.runUntilIdle();
    const waits = (instanceId: string, runNumber: number, deadlineAt: number) => ({
      workflowName: "listener",
      instanceId,
      runNumber,
      stepKey: "news",
      topic: "stock.low",
      deadlineAt: new Date(deadlineAt),
      hasEvent: false,
    });
    expect(await story.app.waiters("stock.low")).toEqual({
      items: [waits("a", 1, start + hour), waits("b", 1, start + 70 * minute)],
      hasNextPage: false,
    });
    const page = await story.app.waiters("stock.low", { pageSize: 1 });
    expect([page.items.map(({ instanceId }) => instanceId), page.hasNextPage]).toEqual([["a"], true]);
    const rest = await story.app.waiters("stock.low", { pageSize: 1, cursor: page.cursor ?? "" });
    expect([rest.items.map(({ instanceId }) => instanceId), rest.hasNextPage]).toEqual([["b"], false]);
    await first.restart();
    expect((await story.app.waiters("stock.low")).items).toEqual([waits("b", 1, start + 70 * minute)]);
    await story.runUntilIdle();
    expect((await story.app.waiters("stock.low")).items).toEqual([
      waits("b", 1, start + 70 * minute),
      waits("a", 2, start + 70 * minute),
    ]);
    await story.advance("2 hours");
    expect((await story.app.waiters("stock.low")).items).toEqual([]);
  });

  test("98. after a restart, events of the old run are not delivered to the new one", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 2 } });
    await story.runUntilIdle();
    await instance.sendEvent({ idempotencyKey: "e-1", type: "note", payload: "old, taken" });
    await story.runUntilIdle();
    await instance.pause();
    await instance.sendEvent({ idempotencyKey: "e-2", type: "note", payload: "old, not taken" });
    await instance.restart();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "waiting" });
    // Its id has been used up with the old run, and whoever sends it again is told.
    for (const id of ["e-1", "e-2"]) {
      await expect(
        instance.sendEvent({ idempotencyKey: id, type: "note", payload: "repeated" }),
      ).rejects.toMatchObject({
        code: "IDEMPOTENCY_KEY_CONFLICT",
        message: expect.stringContaining("earlier run"),
      });
    }
    expect(await story.runUntilIdle()).toBe(0);
    for (const payload of ["new one", "new two"]) await instance.sendEvent({ type: "note", payload });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["new one", "new two"] });
    const old = await story.history("i", { runNumber: 1 });
    expect(delivered(old.events)).toEqual([
      ["old, taken", "note 0"],
      ["old, not taken", "undelivered"],
    ]);
    expect(delivered((await story.history("i")).events)).toEqual([
      ["new one", "note 0"],
      ["new two", "note 1"],
    ]);
  });

  test("a repeat within the run is no conflict, whether the event was taken or not", async () => {
    const story = tell({ W: collector });
    const instance = await story.workflows.W.create({ id: "i", params: { count: 2 } });
    await story.runUntilIdle();
    const send = () => instance.sendEvent({ idempotencyKey: "e-1", type: "note", payload: "once" });
    await send();
    await send();
    await story.runUntilIdle();
    await send();
    expect(await story.runUntilIdle()).toBe(0);
    expect(await story.status("i")).toEqual({ status: "waiting" });
  });

  test("a step that names a workflow nobody knows fails at once and says so", async () => {
    let calls = 0;
    const sender = defineWorkflow<{ starts: boolean }>({ name: "sender" }, async ({ payload }, step) =>
      step.do("act", async ({ startWorkflow, sendEvent }) => {
        calls++;
        if (payload.starts) startWorkflow("typo", { id: "child" });
        else sendEvent({ workflow: "typo", id: "child" }, { type: "note" });
      }),
    );
    const story = tell({ SENDER: sender });
    await story.workflows.SENDER.createBatch([
      { id: "starts", params: { starts: true } },
      { id: "sends", params: { starts: false } },
    ]);
    await story.runUntilIdle();
    for (const id of ["starts", "sends"]) {
      expect(await story.status(id)).toMatchObject({
        status: "errored",
        error: { code: "WORKFLOW_NOT_FOUND", message: expect.stringContaining('"typo"') },
      });
    }
    expect(calls).toBe(2);
    expect((await story.app.list()).items).toHaveLength(2);
  });

  test("a step may start a workflow of another app that it names by an object", async () => {
    const sender = defineWorkflow({ name: "sender" }, async (_event, step) =>
      step.do("act", async ({ startWorkflow }) => startWorkflow({ name: "elsewhere" }, { id: "child" })),
    );
    const story = tell({ SENDER: sender });
    await story.workflows.SENDER.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "child" });
    expect((await story.app.counts("elsewhere")).active).toBe(1);
  });

  test("99. sending to an unknown instance creates nothing", async () => {
    const sender = defineWorkflow({ name: "sender" }, async (_event, step) =>
      step.do("send", async ({ sendEvent }) => {
        sendEvent({ workflow: "w", id: "nobody" }, { type: "note", payload: 1 });
        return "sent";
      }),
    );
    const story = tell({ W: collector, SENDER: sender });
    const gone = await story.workflows.W.create({ id: "gone", params: { count: 1 } });
    await erased(story.app.store, { workflowName: "w", instanceId: "gone" });
    await expect(gone.sendEvent({ type: "note" })).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    await expect(story.workflows.W.get("nobody")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    // A step that sends to nobody goes on: whether anybody listens is not its result.
    await story.workflows.SENDER.create({ id: "s" });
    await story.runUntilIdle();
    expect(await story.status("s")).toEqual({ status: "complete", output: "sent" });
    // But it is told, where people look.
    const sent = await story.workflows.SENDER.get("s");
    const message = 'Event "note" to w/nobody reached nobody: there is no such instance.';
    expect(await sent.why()).toMatchObject({ reason: "complete", warnings: [message] });
    expect((await sent.logs()).items).toMatchObject([
      {
        level: "warn",
        category: "system",
        stepKey: "send",
        message,
        data: { code: "INSTANCE_NOT_FOUND", workflowName: "w", instanceId: "nobody", type: "note" },
      },
    ]);
    expect((await story.workflows.W.list()).items).toEqual([]);
    expect(await story.app.counts("w")).toMatchObject({ active: 0, waiting: 0, complete: 0, errored: 0 });
  });

  /** Children that take some minutes each and tell their parent; the parent joins them. */
  function family(childLimits: { concurrency?: number } = {}) {
    const bodies: string[] = [];
    const child = defineWorkflow<{ parent: string; minutes: number }>(
      { name: "child", ...childLimits },
      async ({ payload, instanceId }, step) => {
        const { parent, minutes } = payload;
        await step.sleep("work", `${minutes} minutes`);
        await step.do("tell", async ({ sendEvent }) => {
          bodies.push(instanceId);
          sendEvent({ workflow: "parent", id: parent }, { type: "done", payload: instanceId });
        });
      },
    );
    const parent = defineWorkflow({ name: "parent" }, async ({ instanceId }, step) => {
      const children = await step.do("start children", async ({ startWorkflow }) => {
        bodies.push("start children");
        return [3, 1, 2].map((minutes) =>
          startWorkflow(child, { id: `child-${minutes}`, params: { parent: instanceId, minutes } }),
        );
      });
      const order: unknown[] = [];
      for (let n = 0; n < children.length; n++) {
        order.push((await step.waitForEvent(`child ${n}`, { type: "done" })).payload);
      }
      return { children, order };
    });
    return { workflows: { PARENT: parent, CHILD: child }, bodies };
  }
  const joined = {
    status: "complete",
    output: { children: ["child-3", "child-1", "child-2"], order: ["child-1", "child-2", "child-3"] },
  };

  test("100. a workflow starts racing children and joins them by their events", async () => {
    const { workflows, bodies } = family();
    const story = tell(workflows);
    await story.workflows.PARENT.create({ id: "p" });
    await story.advance("1 minute");
    expect(await story.steps("p")).toEqual([
      "start children completed",
      "child 0 completed",
      "child 1 waiting",
    ]);
    await story.advance("2 minutes");
    expect(await story.status("p")).toEqual(joined);
    expect(bodies).toEqual(["start children", "child-1", "child-2", "child-3"]);
    const child = await (await story.workflows.CHILD.get("child-1")).details();
    expect(child).toMatchObject({
      status: "complete",
      parent: { workflowName: "parent", instanceId: "p" },
      params: { parent: "p", minutes: 1 },
    });
  });

  test("100. with one slot, and one child at a time, the parent's waiting blocks nobody (R-081)", async () => {
    const { workflows } = family({ concurrency: 1 });
    const story = tell(workflows, { runner: { concurrency: 1 } });
    await story.workflows.PARENT.create({ id: "p" });
    await story.advance("3 minutes");
    expect(await story.status("p")).toEqual(joined);
  });

  test.each([
    ["before", "stopBefore", { "start children": 2, children: 0 }],
    ["after", "stopAfter", { "start children": 1, children: 3 }],
  ] as const)(
    "100. children start with the step that starts them or not at all: killed %s its commit",
    async (_title, place, expected) => {
      const { workflows, bodies } = family();
      const story = tell(workflows);
      await story.workflows.PARENT.create({ id: "p" });
      const doomed = story.runner("doomed");
      const stop = doomed[place]("commit");
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      doomed.kill();
      expect((await story.workflows.CHILD.list()).items).toHaveLength(expected.children);
      await story.advance("4 minutes");
      expect(await story.status("p")).toEqual(joined);
      expect((await story.workflows.CHILD.list()).items).toHaveLength(3);
      expect(bodies.filter((body) => body === "start children")).toHaveLength(expected["start children"]);
      expect(bodies.filter((body) => body !== "start children")).toEqual(["child-1", "child-2", "child-3"]);
    },
  );

  test("100. what a failed attempt wanted to start or send never happens", async () => {
    const child = defineWorkflow({ name: "child" }, async () => "ran");
    const parent = defineWorkflow({ name: "parent" }, async ({ instanceId }, step) => {
      await step.do("start", { retries: { limit: 1, delay: "1 minute" } }, async (context) => {
        context.startWorkflow("child", { id: `attempt-${context.attempt}` });
        const address = { workflow: "parent", id: instanceId };
        context.sendEvent(address, { type: "note", payload: context.attempt });
        if (context.attempt === 1) throw new Error("changed my mind");
      });
      return (await step.waitForEvent("note", { type: "note" })).payload;
    });
    const story = tell({ PARENT: parent, CHILD: child });
    await story.workflows.PARENT.create({ id: "p" });
    await story.advance("1 minute");
    expect(await story.status("p")).toEqual({ status: "complete", output: 2 });
    expect((await story.workflows.CHILD.list()).items.map(({ id }) => id)).toEqual(["attempt-2"]);
    expect(delivered((await story.history("p")).events)).toEqual([[2, "note"]]);
  });

  test("R-009 (INV-13) events of no interest do not disturb a body in flight", async () => {
    const gate = createGate();
    let starts = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("slow", async () => {
        starts++;
        await gate.wait();
        return "done";
      }),
    );
    const story = tell({ W: workflow }, { autoRun: true });
    const instance = await story.workflows.W.create({ id: "i" });
    for (let n = 0; n < 20; n++) {
      await instance.sendEvent({ type: "other" });
      await story.advance(10);
    }
    await gate.open();
    // A claim may have met the row while an event was written to it: then the run is looked for again a little later.
    await story.advance("1 second");
    expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
    expect(starts).toBe(1);
  });
});

/** Ids must not hold what a duration may. */
function idFor(timeout: number | string): string {
  return `${typeof timeout}-${String(timeout).replaceAll(/[^a-z0-9]/gi, "_")}`;
}
