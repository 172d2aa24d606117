import { describe, expect, test } from "vitest";
import { completed, errored, event, waiting } from "../../../../tests/support/sample-records.ts";
import { encodeValue } from "../authoring/codec.ts";
import type { EventRecord } from "../model/event.ts";
import { type Decision, decide, eventFor, type StepCall, typeMismatch } from "./decide.ts";

const now = 1000;
const call = (facts: Partial<StepCall>): StepCall => ({
  key: "a",
  name: "a",
  type: "do",
  wakeAt: null,
  eventType: null,
  ...facts,
});
const sleep = call({ type: "sleep", wakeAt: 5000 });
const wait = call({ type: "waitForEvent", wakeAt: 5000, eventType: "n" });
const topicWait = call({ type: "waitForEvent", wakeAt: 5000 });

interface Case {
  readonly call: StepCall;
  readonly known?: Parameters<typeof decide>[1];
  readonly events?: readonly EventRecord[];
  readonly decision: Decision;
}

const done = completed({ key: "a" });
const failed = errored({ key: "a" });
const retry = (wakeAt: number, facts = {}) =>
  waiting({ key: "a", type: "do", attempts: 1, wakeAt, ...facts });
const asleep = (wakeAt: number) => waiting({ key: "a", wakeAt });
const expecting = (wakeAt: number) => waiting({ key: "a", type: "waitForEvent", eventType: "n", wakeAt });
const n = (facts: Partial<EventRecord> = {}) => event({ seq: 1, type: "n", ...facts });

const skip = (began: number | undefined) =>
  n({ seq: 2, forStep: "a", payload: encodeValue(began, "event payload") });

const cases: Record<string, Case> = {
  "a new body runs": { call: call({}), decision: { kind: "attempt" } },
  "a completed step answers from history": {
    call: call({}),
    known: done,
    decision: { kind: "settled", record: done },
  },
  "a failed step answers from history": {
    call: call({}),
    known: failed,
    decision: { kind: "settled", record: failed },
  },
  "a retry before its time waits": {
    call: call({}),
    known: retry(now + 1),
    decision: { kind: "wait", until: now + 1 },
  },
  "a retry at its time runs": { call: call({}), known: retry(now), decision: { kind: "attempt" } },
  "a retry without limit runs": {
    call: call({}),
    known: retry(now, { attempts: 5000, maxAttempts: null }),
    decision: { kind: "attempt" },
  },
  "a retry with one attempt left runs": {
    call: call({}),
    known: retry(now, { attempts: 5 }),
    decision: { kind: "attempt" },
  },
  "retries used up do not run, even before their time": {
    call: call({}),
    known: retry(now + 1, { attempts: 6 }),
    decision: { kind: "exhausted", wait: retry(now + 1, { attempts: 6 }) },
  },
  "a new sleep waits for its own time": { call: sleep, decision: { kind: "wait", until: 5000 } },
  "a new sleep until the past is over": {
    call: call({ type: "sleep", wakeAt: 1 }),
    decision: { kind: "wake", skippedBy: null },
  },
  "a new sleep until now is over": {
    call: call({ type: "sleep", wakeAt: now }),
    decision: { kind: "wake", skippedBy: null },
  },
  "a recorded sleep waits for the time written down, not for the call's": {
    call: sleep,
    known: asleep(2000),
    decision: { kind: "wait", until: 2000 },
  },
  "a recorded sleep at its time is over": {
    call: sleep,
    known: asleep(now),
    decision: { kind: "wake", skippedBy: null },
  },
  "a recorded sleep with an event addressed to it is skipped": {
    call: sleep,
    known: asleep(2000),
    events: [n(), skip(asleep(2000).createdAt)],
    decision: { kind: "wake", skippedBy: skip(asleep(2000).createdAt) },
  },
  "one of an earlier version, which names no sleep, skips the one there is": {
    call: sleep,
    known: asleep(2000),
    events: [skip(undefined)],
    decision: { kind: "wake", skippedBy: skip(undefined) },
  },
  "a sleep is not skipped by an event for one that began at another time (INV-38)": {
    call: sleep,
    known: asleep(2000),
    events: [skip(asleep(2000).createdAt - 1)],
    decision: { kind: "wait", until: 2000 },
  },
  "a sleep is not skipped by an event for another": {
    call: sleep,
    known: asleep(2000),
    events: [n({ forStep: "b" }), event({ seq: 2 })],
    decision: { kind: "wait", until: 2000 },
  },
  "a sleep that is over leaves the event that came to skip it": {
    call: sleep,
    known: asleep(now),
    events: [n({ forStep: "a" })],
    decision: { kind: "wake", skippedBy: null },
  },
  "a new wait waits": { call: wait, decision: { kind: "wait", until: 5000 } },
  "a new wait takes an event that is there": {
    call: wait,
    events: [n()],
    decision: { kind: "consume", event: n() },
  },
  "a recorded wait before its end waits": {
    call: wait,
    known: expecting(2000),
    decision: { kind: "wait", until: 2000 },
  },
  "a recorded wait at its end times out": {
    call: wait,
    known: expecting(now),
    decision: { kind: "timeout", wait: expecting(now) },
  },
  "a wait that is over still takes an event that came in time": {
    call: wait,
    known: expecting(500),
    events: [n({ createdAt: 500 })],
    decision: { kind: "consume", event: n({ createdAt: 500 }) },
  },
  "a wait that is over does not take one that came too late": {
    call: wait,
    known: expecting(500),
    events: [n({ createdAt: 501 })],
    decision: { kind: "timeout", wait: expecting(500) },
  },
  "a wait never times out before it was recorded": {
    call: call({ type: "waitForEvent", wakeAt: now, eventType: "n" }),
    decision: { kind: "wait", until: now },
  },
  "the oldest matching event is taken": {
    call: wait,
    events: [event({ seq: 1, type: "other" }), n({ seq: 2 }), n({ seq: 3 })],
    decision: { kind: "consume", event: n({ seq: 2 }) },
  },
  "an event addressed to another wait is not taken, though of the type": {
    call: wait,
    events: [n({ forStep: "b" })],
    decision: { kind: "wait", until: 5000 },
  },
  "a publication addressed to the wait is taken": {
    call: topicWait,
    events: [event({ seq: 1, topic: "t", forStep: "a" })],
    decision: { kind: "consume", event: event({ seq: 1, topic: "t", forStep: "a" }) },
  },
  "a wait on a topic takes no event without a type": {
    call: topicWait,
    events: [event({ seq: 1 })],
    decision: { kind: "wait", until: 5000 },
  },
};

describe("decide", () => {
  test.each(Object.entries(cases))("%s", (_, { call: asked, known, events = [], decision }) => {
    expect(decide(asked, known, events, now)).toEqual(decision);
  });

  test.each([
    [call({ type: "sleep", wakeAt: 1 }), done],
    [call({}), asleep(2000)],
    [wait, asleep(2000)],
    [call({}), expecting(2000)],
  ])("a step recorded as another kind is refused, settled or not", (asked, known) => {
    expect(() => decide(asked, known, [], now)).toThrow(typeMismatch(asked, known.type));
  });

  test("the refusal names both kinds", () => {
    const error = typeMismatch({ name: "nap", type: "sleep" }, "do");
    expect(error.code).toBe("STEP_TYPE_MISMATCH");
    expect(error.details).toEqual({ step: "nap", recorded: "do", asked: "sleep" });
  });
});

describe("eventFor", () => {
  test("the end of the wait is part of it", () => {
    expect(eventFor(wait, 5000, [n({ createdAt: 5000 })])).not.toBeNull();
    expect(eventFor(wait, 5000, [n({ createdAt: 5001 })])).toBeNull();
  });

  test("one that came too late does not hide one behind it that came in time", () => {
    const events = [n({ seq: 1, createdAt: 6000 }), n({ seq: 2, createdAt: 10 })];
    expect(eventFor(wait, 5000, events)?.seq).toBe(2);
  });
});
