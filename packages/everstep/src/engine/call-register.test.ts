import { describe, expect, test } from "vitest";
import { completed, errored, waiting } from "../../../../tests/support/sample-records.ts";
import { buildDefinition, type WorkflowMode, type WorkflowOptions } from "../authoring/define-workflow.ts";
import type { EverstepError } from "../model/error.ts";
import type { SettledStep, StepRecord, StepType } from "../model/step.ts";
import { Body } from "./body.ts";
import type { Call, CallSpec } from "./call.ts";
import { CallRegister } from "./call-register.ts";
import { stepOptionsOf } from "./step-options.ts";

type Options = Partial<WorkflowOptions> & { readonly mode?: WorkflowMode };

function registerOf(steps: readonly StepRecord[] = [], { mode = "everstep", ...options }: Options = {}) {
  const definition = buildDefinition({ name: "story", ...options }, () => {}, mode);
  const notes: string[] = [];
  const register = new CallRegister(definition, steps, (message) => notes.push(message));
  const spec = (name: string, type: StepType = "do", facts: Partial<CallSpec> = {}): CallSpec => ({
    type,
    name,
    callback: null,
    options: type === "do" ? stepOptionsOf(definition).resolve(undefined, name) : null,
    wakeAt: null,
    durationMs: null,
    eventType: null,
    topic: null,
    onConsume: null,
    ...facts,
  });
  const repeated = stepOptionsOf(definition).resolve({ repeat: true }, "any");
  return {
    register,
    notes,
    spec,
    enter: (given: CallSpec, parent: Body | null = null): Call => register.enter(given, parent),
    /** One call from its beginning to its end. */
    through: (name: string, type: StepType = "do", parent: Body | null = null): Call => {
      const call = register.enter(spec(name, type), parent);
      const { key, count } = call;
      const record = completed({ key, name, count, type, index: register.indexOf(call) });
      call.record ??= record;
      register.settled(call, call.record as SettledStep);
      call.resolve(1);
      return call;
    },
    repeat: (name: string, parent: Body | null = null): Call =>
      register.enter(spec(name, "do", { options: repeated }), parent),
  };
}

const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as EverstepError).code;
  }
  return "nothing was thrown";
};

describe("a name is an identity", () => {
  test("used again after it is done, it is the next use, whatever kind of step", () => {
    const { through } = registerOf();
    const calls = [through("a"), through("a", "sleep"), through("a", "waitForEvent"), through("a")];
    expect(calls.map(({ key, count }) => [key, count])).toEqual([
      ["a", 1],
      ["a#2", 2],
      ["a#3", 3],
      ["a#4", 4],
    ]);
  });

  test.each([
    ["do", "repeat: true"],
    ["sleep", "different names"],
    ["waitForEvent", "different names"],
  ] as const)("used again while it is in flight, it is refused as %s, with a remedy", (type, remedy) => {
    const { register, spec, enter } = registerOf();
    enter(spec("a"));
    expect(codeOf(() => register.enter(spec("a", type), null))).toBe("DUPLICATE_STEP_KEY");
    expect(() => register.enter(spec("a", type), null)).toThrow(remedy);
  });

  test("a use is in flight until author code has its result, also when that is recorded", () => {
    const { register, spec, enter } = registerOf([completed({ key: "a" })]);
    const first = enter(spec("a"));
    expect(codeOf(() => register.enter(spec("a"), null))).toBe("DUPLICATE_STEP_KEY");
    first.resolve(1);
    expect(enter(spec("a")).key).toBe("a#3");
  });

  test("what is recorded was allowed when it began, and is found while the name is in flight", () => {
    const second = completed({ key: "a#2", name: "a", count: 2, index: 1 });
    const { register, spec, enter } = registerOf([completed({ key: "a" }), second]);
    enter(spec("a"));
    expect(enter(spec("a")).record).toBe(second);
    expect(codeOf(() => register.enter(spec("a"), null))).toBe("DUPLICATE_STEP_KEY");
  });

  test("is in flight as long as any of its uses is", () => {
    const { register, spec, repeat } = registerOf();
    repeat("a");
    repeat("a").resolve(1);
    expect(codeOf(() => register.enter(spec("a"), null))).toBe("DUPLICATE_STEP_KEY");
  });

  test("a refused call counts, so that those behind it keep their numbers once it is corrected", () => {
    const { register, spec, enter, through } = registerOf();
    const problem = new Error("refused");
    expect(() => register.enter(spec("a", "do", { options: null, problem }), null)).toThrow(problem);
    expect(through("a").key).toBe("a#2");
    const corrected = registerOf([completed({ key: "a#2", name: "a", count: 2 })]);
    expect(corrected.through("a").key).toBe("a");
    expect(corrected.enter(spec("a")).record?.key).toBe("a#2");
    expect(enter(spec("a")).key).toBe("a#3");
  });

  test("with strictStepNames any second use is refused", () => {
    const { register, spec, through } = registerOf([], { strictStepNames: true });
    through("a");
    expect(codeOf(() => register.enter(spec("a"), null))).toBe("DUPLICATE_STEP_KEY");
  });

  test("strictStepNames does not mind the first use on replay", () => {
    const { enter, spec } = registerOf([completed({ key: "a" })], { strictStepNames: true });
    expect(enter(spec("a")).record?.key).toBe("a");
  });

  test("strictStepNames refuses repeat: true too, but nothing that is recorded", () => {
    const { repeat } = registerOf([], { strictStepNames: true });
    repeat("a");
    expect(codeOf(() => repeat("a"))).toBe("DUPLICATE_STEP_KEY");
    const second = completed({ key: "a#2", name: "a", count: 2, index: 1 });
    const known = registerOf([completed({ key: "a" }), second], { strictStepNames: true });
    known.through("a");
    expect(known.through("a").record).toBe(second);
    expect(codeOf(() => known.through("a"))).toBe("DUPLICATE_STEP_KEY");
  });

  test("inside another step it is another place", () => {
    const { enter, spec } = registerOf();
    const outer = new Body(enter(spec("a")), 1, 0);
    expect(enter(spec("a"), outer).key).toBe("a/a");
  });

  test("a call whose outer step is over is out of the way", () => {
    const { register, spec, enter } = registerOf();
    const call = enter(spec("outer"));
    const first = new Body(call, 1, 0);
    const inner = enter(spec("inner"), first);
    first.cancel(new Error("timed out"));
    const again = register.enter(spec("inner"), new Body(call, 2, 0));
    expect(again.key).toBe("outer/inner");
    expect(again).not.toBe(inner);
  });

  test("what such a call left behind is gone on from: a wait as a wait, a result as a result", () => {
    const { register, spec, enter } = registerOf();
    const call = enter(spec("outer"));
    const first = new Body(call, 1, 0);
    const nap = enter(spec("nap", "sleep"), first);
    register.waits(nap, waiting({ key: nap.key, index: 5 }));
    const known = enter(spec("known"), first);
    register.settled(known, completed({ key: known.key, index: 6 }));
    first.cancel(new Error("timed out"));
    const second = new Body(call, 2, 0);
    expect(enter(spec("nap", "sleep"), second).record).toMatchObject({ status: "waiting", index: 5 });
    expect(enter(spec("known"), second).record).toMatchObject({ status: "completed", index: 6 });
  });
});

describe("repeated names", () => {
  test("are numbered in the order they are asked for", () => {
    const { repeat } = registerOf();
    expect([1, 2, 3].map(() => repeat("item")).map(({ key, count }) => [key, count])).toEqual([
      ["item", 1],
      ["item#2", 2],
      ["item#3", 3],
    ]);
  });

  test("keep their numbers on replay", () => {
    const { repeat } = registerOf([
      completed({ key: "item", index: 0 }),
      waiting({ key: "item#2", name: "item", count: 2, type: "do", index: 1 }),
    ]);
    expect([1, 2, 3].map(() => repeat("item").record?.status)).toEqual(["completed", "waiting", undefined]);
  });

  test("are numbered anew for every attempt of the outer step, so that results are found again", () => {
    const { repeat, enter, spec } = registerOf();
    const outer = enter(spec("outer"));
    const first = new Body(outer, 1, 0);
    expect([repeat("item", first).key, repeat("item", first).key]).toEqual(["outer/item", "outer/item#2"]);
    first.cancel(new Error("down"));
    expect(repeat("item", new Body(outer, 2, 0)).key).toBe("outer/item");
  });

  test("do not meet a step that is named like one of them", () => {
    const { repeat, enter, spec } = registerOf();
    expect(new Set([repeat("item").key, repeat("item").key, enter(spec("item#2")).key]).size).toBe(3);
  });

  test("are still numbered where the configuration is not valid any more", () => {
    const { repeat, enter, spec } = registerOf([
      completed({ key: "item" }),
      completed({ key: "item#2", name: "item", count: 2, index: 1 }),
    ]);
    repeat("item");
    expect(enter(spec("item", "do", { options: null, problem: new Error("too long") })).record?.key).toBe(
      "item#2",
    );
  });

  test("that a history numbers from 0 go on like that, at the top level and inside", () => {
    const old = (count: number, index: number) =>
      completed({ key: `item#${count - 1}`, name: "item", count, index });
    const { repeat, enter, spec } = registerOf([
      old(1, 0),
      old(3, 1),
      completed({ key: "item#2/part#0", name: "part", index: 2 }),
    ]);
    const calls = [1, 2, 3, 4].map(() => repeat("item"));
    expect(calls.map(({ key, record, divergence }) => [key, record?.index, divergence])).toEqual([
      ["item#0", 0, null],
      ["item#1", undefined, null],
      ["item#2", 1, null],
      ["item#3", undefined, null],
    ]);
    const body = new Body(calls[2] as Call, 2, 0);
    expect(repeat("part", body).key).toBe("item#2/part#0");
    expect(enter(spec("other"), body).key).toBe("item#2/other");
  });

  test("are not taken for those of a history that has them with and without numbers", () => {
    const third = completed({ key: "item#2", name: "item", count: 3, index: 2 });
    const { repeat } = registerOf([completed({ key: "item" }), third]);
    expect(repeat("item").record?.key).toBe("item");
    expect(repeat("item").divergence).toMatchObject({ code: "NONDETERMINISM" });
  });
});

describe("a name with several uses, asked for in another order than recorded", () => {
  const ask = (count: number, index: number, settledIndex = index) =>
    completed({ key: count === 1 ? "ask" : `ask#${count}`, name: "ask", count, index, settledIndex });
  const pay = (index: number, settledIndex = index) => completed({ key: "pay", index, settledIndex });

  test.each<[string, readonly StepRecord[], readonly string[]]>([
    ["moved behind another step", [ask(1, 0), pay(1), ask(2, 2)], ["pay", "ask"]],
    ["moved behind one that ended later", [ask(1, 1, 0), pay(0, 1), ask(2, 2)], ["pay", "ask"]],
    ["moved, and used again for the first time", [ask(1, 0), pay(1)], ["pay", "ask", "ask"]],
    ["its second use moved", [ask(1, 0), ask(2, 1), pay(2)], ["ask", "pay", "ask"]],
  ])("diverges: %s", (_, records, names) => {
    const { through } = registerOf(records);
    const calls = names.map((name) => through(name));
    expect(calls.at(-1)?.divergence).toMatchObject({
      code: "NONDETERMINISM",
      details: { step: "ask", after: "pay" },
    });
    for (const call of calls.slice(0, -1)) expect(call.divergence).toBeNull();
  });

  test("is not judged once something that is no step has called author code back", () => {
    const { register, through } = registerOf([ask(1, 0), pay(1), ask(2, 2)]);
    register.wokenFromOutside();
    expect([through("pay"), through("ask"), through("ask")].map(({ divergence }) => divergence)).toEqual([
      null,
      null,
      null,
    ]);
  });

  test.each<[string, readonly StepRecord[], readonly string[]]>([
    ["in the recorded order", [ask(1, 0), pay(1), ask(2, 2)], ["ask", "pay", "ask", "ask"]],
    ["with a step removed", [ask(1, 0), pay(1), ask(2, 2)], ["ask", "ask"]],
    ["with a new step", [ask(1, 0), ask(2, 1)], ["ask", "new", "ask"]],
    ["one after the other what was side by side", [ask(1, 0, 1), ask(2, 1, 0)], ["ask", "ask"]],
    ["with one use only", [ask(1, 0), pay(1)], ["pay", "ask"]],
  ])("does not diverge %s", (_, records, names) => {
    const { through } = registerOf(records);
    expect(names.map((name) => through(name).divergence)).toEqual(names.map(() => null));
  });
});

describe("code written for Cloudflare", () => {
  const cloudflare = { mode: "cloudflare" } as const;

  test("counts kinds, names and durations apart", () => {
    const { enter, spec } = registerOf([], cloudflare);
    const keys = [
      enter(spec("a")),
      enter(spec("a")),
      enter(spec("a", "sleep", { durationMs: 5 })),
      enter(spec("a", "sleep", { durationMs: 5 })),
      enter(spec("a", "sleep", { durationMs: 6 })),
      enter(spec("a", "waitForEvent")),
    ].map(({ key }) => key);
    expect(keys).toEqual([
      "do:a#1",
      "do:a#2",
      "sleep:a:5#1",
      "sleep:a:5#2",
      "sleep:a:6#1",
      "waitForEvent:a#1",
    ]);
  });

  test("a name that looks like a name with a duration is counted with it, never taken for it", () => {
    const { enter, spec } = registerOf([], cloudflare);
    const keys = [enter(spec("a", "sleep", { durationMs: 5 })), enter(spec("a:5", "sleep"))].map(
      ({ key }) => key,
    );
    expect(new Set(keys).size).toBe(2);
  });
});

describe("the number of steps", () => {
  test("is limited, sleeps not counted, waits for events counted", () => {
    const { enter, spec } = registerOf([], { limits: { maxSteps: 3 } });
    enter(spec("a"));
    enter(spec("nap", "sleep"));
    enter(spec("w", "waitForEvent"));
    enter(spec("nap 2", "sleep"));
    enter(spec("b"));
    expect(codeOf(() => enter(spec("c")))).toBe("STEP_LIMIT_EXCEEDED");
    enter(spec("nap 3", "sleep"));
  });

  test("counts recorded steps once, asked for or not", () => {
    const steps = [completed({ key: "a", index: 0 }), completed({ key: "gone", index: 1 })];
    const { enter, spec } = registerOf(steps, { limits: { maxSteps: 3 } });
    enter(spec("a"));
    enter(spec("b"));
    expect(codeOf(() => enter(spec("c")))).toBe("STEP_LIMIT_EXCEEDED");
  });

  test("waits for events do not count for Cloudflare", () => {
    const { enter, spec } = registerOf([], { limits: { maxSteps: 1 }, mode: "cloudflare" });
    enter(spec("w", "waitForEvent"));
    enter(spec("a"));
    expect(codeOf(() => enter(spec("b")))).toBe("STEP_LIMIT_EXCEEDED");
  });

  test("a call that is asked for again because its outer step is counts once", () => {
    const { enter, spec } = registerOf([], { limits: { maxSteps: 2 } });
    const outer = enter(spec("outer"));
    for (let attempt = 1; attempt < 10; attempt++) {
      const body = new Body(outer, attempt, 0);
      enter(spec("inner"), body);
      body.cancel(new Error("down"));
    }
  });
});

describe("indices", () => {
  test("grow in the order of first start and go on behind what is recorded", () => {
    const { register, enter, spec } = registerOf([completed({ key: "a", index: 7, settledIndex: 3 })]);
    expect(register.indexOf(enter(spec("a")))).toBe(7);
    expect(register.indexOf(enter(spec("b")))).toBe(8);
    expect(register.indexOf(enter(spec("c")))).toBe(9);
    expect(register.settledCount).toBe(4);
  });

  test("waiting steps have no place in the order of hand-over", () => {
    expect(registerOf([waiting({ key: "nap", index: 4 })]).register.settledCount).toBe(0);
  });
});

describe("replaying", () => {
  test("a fresh run never is", () => {
    expect(registerOf().register.replaying).toBe(false);
  });

  test.each([
    ["a step that is not recorded", "new", "do"],
    ["a step that still waits", "nap", "sleep"],
  ] as const)("ends with %s", (_, name, type) => {
    const { register, enter, spec } = registerOf([
      completed({ key: "a", index: 0 }),
      waiting({ key: "nap", index: 1 }),
    ]);
    expect(register.replaying).toBe(true);
    enter(spec("a"));
    expect(register.replaying).toBe(true);
    enter(spec(name, type));
    expect(register.replaying).toBe(false);
  });

  test("is not ended by what happens inside a body", () => {
    const { register, enter, spec } = registerOf([completed({ key: "a" })]);
    enter(spec("inner"), new Body(enter(spec("a")), 1, 0));
    expect(register.replaying).toBe(true);
  });

  /** Asks for steps one after the other, each handed over before the next. */
  function inOrder(...names: readonly string[]) {
    const records = ["a", "b", "c"].map((key, index) => completed({ key, index }));
    const { register, enter, spec, notes } = registerOf(records);
    const calls = names.map((name) => {
      const call = enter(spec(name));
      const index = register.indexOf(call);
      register.settled(call, records.find(({ key }) => key === name) ?? completed({ key: name, index }));
      return call;
    });
    return { calls, notes };
  }

  test("notes once that the order is another one", () => {
    const { calls, notes } = inOrder("c", "a", "b");
    expect(notes).toEqual([expect.stringContaining('"a" is asked for in another order')]);
    expect(calls.map(({ cameAfter }) => cameAfter)).toEqual([null, "c", "c"]);
  });

  test.each([
    ["with steps left out", ["a", "c", "d"]],
    ["with a new step in between", ["a", "new", "b"]],
  ])("notes nothing while the order is the recorded one, %s", (_what, names) => {
    expect(inOrder(...names).notes).toEqual([]);
  });

  test("notes nothing of steps that are open at the same time, which a crash may have put in any order", () => {
    const { enter, spec, notes } = registerOf([
      completed({ key: "fast", index: 1, settledIndex: 0 }),
      completed({ key: "slow", index: 2, settledIndex: 1 }),
    ]);
    for (const name of ["slow", "fast"]) enter(spec(name));
    expect(notes).toEqual([]);
  });
});

describe("errors", () => {
  test("of a step whose retries are used up are known again, by identity", () => {
    const { register } = registerOf();
    const used = register.errorOf(errored({ key: "a", attempts: 6 }));
    const single = register.errorOf(errored({ key: "b", attempts: 2 }));
    expect(register.isExhausted(used)).toBe(true);
    expect(register.isExhausted(single)).toBe(false);
    expect(register.isExhausted(new Error(used.message))).toBe(false);
    expect(register.isExhausted(undefined)).toBe(false);
  });

  test("of a step whose retries are used up are known again when they are wrapped", () => {
    const { register } = registerOf();
    const used = register.errorOf(errored({ key: "a", attempts: 6 }));
    const wrapped = new Error("order failed", { cause: new Error("payment failed", { cause: used }) });
    expect(register.isExhausted(wrapped)).toBe(true);
    expect(register.isExhausted({ cause: used })).toBe(true);
    expect(register.isExhausted(new AggregateError([new Error("other"), used]))).toBe(true);
    const circle = new Error("circle");
    circle.cause = new AggregateError([circle], "more", { cause: circle });
    expect(register.isExhausted(circle)).toBe(false);
  });

  test("of a wait that timed out are not exhausted retries", () => {
    const { register } = registerOf();
    const error = register.errorOf(errored({ key: "w", type: "waitForEvent", attempts: 1 }));
    expect(register.isExhausted(error)).toBe(false);
  });
});
