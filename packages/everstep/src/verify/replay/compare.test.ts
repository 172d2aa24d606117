import { describe, expect, test } from "vitest";
import { completed, errored, json, waiting } from "../../../../../tests/support/sample-records.ts";
import type { StepRecord, StepType } from "../../model/step.ts";
import { compare, type ReadableRehearsal } from "./compare.ts";
import { findingOf } from "./finding.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { AskedStep } from "./rehearsal-host.ts";

const a = completed({ key: "a", index: 0 });
const b = completed({ key: "b", index: 1 });
const nap = waiting({ key: "nap", index: 2 });
const paid = waiting({ key: "paid", index: 2, type: "waitForEvent", eventType: "paid" });
const received = completed({ key: "paid", index: 2, type: "waitForEvent", eventType: "paid" });
const boom = { name: "Error", message: "boom" };

function run(facts: Partial<RecordedRun> = {}): RecordedRun {
  return {
    workflowName: "w",
    instanceId: "i",
    runNumber: 1,
    status: "waiting",
    params: json({}),
    createdAt: 0,
    steps: [a, b, nap],
    begun: [],
    output: null,
    error: null,
    ...facts,
  };
}

function ask(step: StepRecord | string, facts: Partial<AskedStep> = {}): AskedStep {
  const record = typeof step === "string" ? undefined : step;
  const stepKey = typeof step === "string" ? step : step.key;
  const type: StepType = record?.type ?? "do";
  const { eventType = null, topic = null } = record ?? {};
  return { stepKey, name: stepKey, type, eventType, topic, record, cameAfter: null, ...facts };
}

const open: ReadableRehearsal["rest"] = { kind: "open" };
const stuck: ReadableRehearsal["rest"] = { kind: "stuck" };
const returns = (value: unknown): ReadableRehearsal["rest"] => ({
  kind: "ended",
  outcome: { kind: "complete", output: json(value) },
});
const throws = (error: { name: string; message: string; code?: string }): ReadableRehearsal["rest"] => ({
  kind: "ended",
  outcome: { kind: "error", error, deadLetter: false },
});

const body = { key: "b", name: "b", start: 1, at: 0 };
const active = run({ status: "active", steps: [a] });

describe("an instance under way", () => {
  test.each<[string, RecordedRun, readonly AskedStep[], ReadableRehearsal["rest"], string]>([
    ["asks for the same", run(), [ask(a), ask(b), ask(nap)], open, "identical"],
    ["asks for more beside them", run(), [ask(a), ask(b), ask(nap), ask("c")], open, "continues"],
    ["asks for its next step", active, [ask(a), ask("b")], open, "continues"],
    ["has nothing recorded", run({ status: "active", steps: [] }), [ask("a")], open, "continues"],
    [
      "asks for a body in flight",
      run({ status: "active", steps: [a], begun: [body] }),
      [ask(a), ask("b")],
      open,
      "identical",
    ],
    [
      "no longer asks for a body in flight",
      run({ status: "active", steps: [a], begun: [body] }),
      [ask(a), ask("c")],
      open,
      "orphaned",
    ],
    ["no longer asks for one", run(), [ask(a), ask(nap)], open, "orphaned"],
    ["asks for a new one before", run(), [ask("n")], open, "orphaned"],
    ["no longer asks for an open wait", run(), [ask(a), ask(b)], open, "orphaned"],
    ["asks in another order", run(), [ask(b), ask(a, { cameAfter: "b" }), ask(nap)], open, "reordered"],
    ["asks in another order and for less", run(), [ask(b), ask(a, { cameAfter: "b" })], open, "orphaned"],
    ["asks for another kind", run(), [ask(a), ask(b, { type: "sleep" }), ask(nap)], open, "mismatch"],
    ["asks for another kind, and hangs", run(), [ask(a, { type: "sleep" })], stuck, "mismatch"],
    [
      "asks for an open wait with another event type",
      run({ steps: [paid] }),
      [ask(paid, { eventType: "settled" })],
      open,
      "mismatch",
    ],
    [
      "asks for an open wait on a topic instead",
      run({ steps: [paid] }),
      [ask(paid, { eventType: null, topic: "paid" })],
      open,
      "mismatch",
    ],
    [
      "asks for a wait that is over with another event type",
      run({ steps: [received, nap] }),
      [ask(received, { eventType: "settled" }), ask(nap)],
      open,
      "identical",
    ],
    [
      "asks for one name as two kinds",
      run(),
      [ask(a)],
      throws({ ...boom, code: "STEP_TYPE_MISMATCH" }),
      "mismatch",
    ],
    ["returns while it waited", run(), [ask(a), ask(b), ask(nap)], returns(1), "ends"],
    ["returns while it waited, paused", run({ status: "paused" }), [ask(a)], returns(1), "ends"],
    ["throws", run(), [], throws(boom), "ends"],
    ["throws between two steps", active, [ask(a)], throws(boom), "ends"],
    ["returns between two steps", active, [ask(a)], returns(1), "continues"],
    ["returns between two steps and asks for less", active, [], returns(1), "ends"],
    [
      "returns with a wait left behind",
      { ...run(), status: "active" },
      [ask(a), ask(b), ask(nap)],
      returns(1),
      "continues",
    ],
    [
      "returns in another order",
      { ...run(), status: "paused" },
      [ask(b), ask(a, { cameAfter: "b" }), ask(nap)],
      returns(1),
      "reordered",
    ],
    ["does not come to rest", run(), [ask(a)], stuck, "stuck"],
  ])("that %s", (_what, recorded, asked, rest, expected) => {
    expect(compare(recorded, { asked, rest }).classification).toBe(expected);
  });
});

describe("an instance that ended", () => {
  const complete = run({ status: "complete", steps: [a], output: json({ n: 1, m: [2] }) });
  const failed = run({ status: "errored", steps: [a], error: boom });
  const givenUp = run({
    status: "errored",
    steps: [a],
    error: { ...boom, name: "EverstepError", code: "CRASH_LOOP" },
  });

  test.each<[string, RecordedRun, readonly AskedStep[], ReadableRehearsal["rest"], string]>([
    ["returns the same", complete, [ask(a)], returns({ n: 1, m: [2] }), "identical"],
    [
      "returns the same, its keys in another order",
      complete,
      [ask(a)],
      returns({ m: [2], n: 1 }),
      "identical",
    ],
    [
      "returns the same, and leaves a body behind",
      complete,
      [ask(a), ask("b")],
      returns({ n: 1, m: [2] }),
      "identical",
    ],
    ["returns the same without one step", complete, [], returns({ n: 1, m: [2] }), "orphaned"],
    ["returns something else", complete, [ask(a)], returns({ n: 2, m: [2] }), "differs"],
    ["throws instead", complete, [ask(a)], throws(boom), "differs"],
    ["asks for more", complete, [ask(a), ask("b")], open, "continues"],
    ["waits instead of ending", { ...complete, steps: [a, nap] }, [ask(a), ask(nap)], open, "differs"],
    ["throws the same", failed, [ask(a)], throws(boom), "identical"],
    ["throws something else", failed, [ask(a)], throws({ ...boom, message: "bang" }), "differs"],
    ["returns instead", failed, [ask(a)], returns(1), "differs"],
    [
      "was given up, and stands where it stood",
      { ...givenUp, begun: [body] },
      [ask(a), ask("b")],
      open,
      "identical",
    ],
    [
      "was terminated, and stands where it stood",
      run({ status: "terminated" }),
      [ask(a), ask(b), ask(nap)],
      open,
      "identical",
    ],
  ])("and now %s", (_what, recorded, asked, rest, expected) => {
    expect(compare(recorded, { asked, rest }).classification).toBe(expected);
  });

  test.each([
    ["returns something else", complete, returns("[hidden]"), "identical"],
    ["throws", complete, throws(boom), "differs"],
    ["throws something else", failed, throws({ name: "Error", message: "[hidden]" }), "identical"],
  ])("and whose values were replaced, if it now %s", (_what, recorded, rest, expected) => {
    const compared = compare(recorded, { asked: [ask(a)], rest }, { redacted: true });
    expect(compared.classification).toBe(expected);
  });
});

describe("steps inside other steps", () => {
  const outer = completed({ key: "outer", index: 1, settledIndex: 1 });
  const inner = completed({ key: "outer/inner", index: 0, settledIndex: 0 });
  const failed = errored({ key: "outer/inner", index: 0 });

  test("belong to the outer one once it has completed", () => {
    const compared = compare(run({ steps: [inner, outer] }), { asked: [ask(outer)], rest: open });
    expect(compared).toMatchObject({ classification: "identical", uncheckedSteps: [], unusedSteps: [] });
  });

  test.each([
    ["is tried again", [inner, waiting({ key: "outer", index: 1, type: "do" })]],
    ["is in flight", [inner]],
    ["is in flight inside another", [completed({ key: "outer/middle/inner" })]],
    ["failed inside", [failed]],
  ])("are not checked while the outer one %s", (_what, steps) => {
    const recorded = run({ status: "active", steps });
    const record = steps.find(({ key }) => key === "outer");
    const compared = compare(recorded, { asked: [ask(record ?? "outer")], rest: open });
    expect(compared.uncheckedSteps).toEqual([steps[0]?.key]);
    expect(compared.unusedSteps).toEqual([]);
    expect(findingOf(recorded, compared).message).toContain(`Not checked, because`);
  });

  test("are not used if nobody asks for the outer one any more", () => {
    const compared = compare(run({ status: "active", steps: [inner] }), {
      asked: [ask("other")],
      rest: open,
    });
    expect(compared).toMatchObject({
      classification: "orphaned",
      unusedSteps: ["outer"],
      uncheckedSteps: [],
    });
  });
});

describe("a finding", () => {
  const found = (asked: readonly AskedStep[], rest: ReadableRehearsal["rest"], recorded = run()) =>
    findingOf(recorded, compare(recorded, { asked, rest }));

  test("names instance, steps and what to do", () => {
    expect(found([ask(a), ask("b2")], open)).toEqual({
      workflowName: "w",
      instanceId: "i",
      runNumber: 1,
      status: "waiting",
      classification: "orphaned",
      message: expect.stringMatching(
        /^The code asks for "b2", .* before "b", "nap", .* keep its old name\.$/,
      ),
      newSteps: ["b2"],
      unusedSteps: ["b", "nap"],
      movedSteps: [],
      uncheckedSteps: [],
    });
  });

  test("says what was recorded and what is asked for", () => {
    const finding = found([ask(a, { type: "sleep" })], open);
    expect(finding.mismatch).toEqual({ stepKey: "a", recorded: "do", asked: "sleep" });
    expect(finding.message).toContain("STEP_TYPE_MISMATCH");
  });

  test("carries the error the code throws, cut to a length one can read", () => {
    const { error, message } = found([], throws({ name: "TypeError", message: "x".repeat(9000), code: "C" }));
    expect(error).toEqual({ name: "TypeError", message: "x".repeat(500), code: "C" });
    expect(message.length).toBeLessThan(500);
  });

  test("names no more steps than one can read", () => {
    const steps = Array.from({ length: 300 }, (_, index) => completed({ key: `s${index}`, index }));
    const finding = found([], open, run({ steps }));
    expect(finding.unusedSteps).toHaveLength(50);
    expect(finding.message).toContain('"s4" and 295 more');
  });

  test.each([
    ["identical", [ask(a), ask(b), ask(nap)], open],
    ["continues", [ask(a), ask(b), ask(nap), ask("c")], open],
    ["reordered", [ask(b), ask(a, { cameAfter: "b" }), ask(nap)], open],
    ["orphaned", [ask(a), ask(nap)], open],
    ["ends", [], throws(boom)],
    ["ends", [], returns(1)],
    ["mismatch", [], throws({ ...boom, code: "STEP_TYPE_MISMATCH" })],
    ["stuck", [], stuck],
  ] as const)("of %s says something", (classification, asked, rest) => {
    const finding = found(asked, rest);
    expect(finding.classification).toBe(classification);
    expect(finding.message.length).toBeGreaterThan(20);
  });
});
