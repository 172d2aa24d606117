import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { completed, errored, json, waiting } from "../../../../tests/support/sample-records.ts";
import type { EverstepError } from "../model/error.ts";
import { instanceStatuses } from "../model/instance.ts";
import { defaultLimits } from "../model/limits.ts";
import type { StepRecord } from "../model/step.ts";
import type { StoredError } from "../model/value.ts";
import { statusFrom } from "./instance-words.ts";
import {
  encodeParams,
  planCreate,
  planPause,
  planRestart,
  planResume,
  planTerminate,
  userReason,
} from "./lifecycle.ts";
import { planSendEvent, planSkipSleep } from "./plan-event.ts";
import { planRetryFailedStep } from "./retry-failed-step.ts";
import { activeSleep, findStep, historyBefore } from "./step-selection.ts";

const ref = { workflowName: "order", instanceId: "7" };
const keys = (steps: readonly StepRecord[]): string[] => steps.map(({ key }) => key);
const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as EverstepError).code;
  }
  return "nothing was thrown";
};

/** Ran in this order; the alphabet knows another. */
const history = [
  completed({ key: "zeta", index: 0 }),
  completed({ key: "outer", index: 1 }),
  completed({ key: "outer/second", index: 2 }),
  completed({ key: "alpha", index: 3 }),
  completed({ key: "outer/late", index: 4 }),
  completed({ key: "mid", index: 5 }),
];

describe("what a run that begins at a step keeps", () => {
  test.each([
    ["the first step", "zeta", []],
    [
      "one in the middle, by order of starting and not by name",
      "alpha",
      ["zeta", "outer", "outer/second", "outer/late"],
    ],
    ["the last", "mid", ["zeta", "outer", "outer/second", "alpha", "outer/late"]],
    ["a nested one means its outermost ancestor", "outer/second", ["zeta"]],
    ["a nested one by its name", "late", ["zeta"]],
  ])("from %s", (_, from, kept) => {
    expect(keys(historyBefore(history, from))).toEqual(kept);
  });

  test("the order the records come in does not matter", () => {
    const shuffled = [...history].reverse();
    expect(new Set(keys(historyBefore(shuffled, "alpha")))).toEqual(
      new Set(["zeta", "outer", "outer/second", "outer/late"]),
    );
  });

  test("open waits are not kept, nor what is inside a step that is not", () => {
    const steps = [
      waiting({ key: "nap", index: 0 }),
      waiting({ key: "retrying", type: "do", index: 1 }),
      completed({ key: "retrying/inner", index: 2 }),
      errored({ key: "failed", index: 3 }),
      completed({ key: "orphan/inner", index: 4 }),
      completed({ key: "from", index: 5 }),
    ];
    expect(keys(historyBefore(steps, "from"))).toEqual(["failed"]);
  });

  test("indices and order of hand-over are kept as they were, gaps and all", () => {
    const steps = [completed({ key: "a", index: 4, settledIndex: 9 }), completed({ key: "b", index: 8 })];
    expect(historyBefore(steps, "b")).toEqual([steps[0]]);
  });

  test("a repeated step is found by its count", () => {
    const steps = [0, 1, 2].map((at) =>
      completed({ key: `item#${at}`, name: "item", count: at + 1, index: at }),
    );
    expect(keys(historyBefore(steps, { name: "item", count: 2 }))).toEqual(["item#0"]);
    expect(keys(historyBefore(steps, "item#2"))).toEqual(["item#0", "item#1"]);
    expect(keys(historyBefore(steps, "item"))).toEqual([]);
  });

  test("a step is found by its type where names are shared", () => {
    const steps = [
      completed({ key: "sleep:a#1", name: "a", type: "sleep", index: 0 }),
      completed({ key: "do:a#1", name: "a", index: 1 }),
    ];
    expect(findStep(steps, { name: "a", type: "do" }).key).toBe("do:a#1");
  });

  test("what ran inside a step is kept with it, though it was recorded first: a crash gave its parent a later index", () => {
    const steps = [
      completed({ key: "outer/in", name: "in", index: 1, parentKey: "outer" }),
      completed({ key: "outer", index: 2 }),
      completed({ key: "from", index: 3 }),
    ];
    expect(keys(historyBefore(steps, "from"))).toEqual(["outer/in", "outer"]);
  });

  describe("a name that is found at several places", () => {
    // The nested "pay" began first, inside "prepare".
    const steps = [
      completed({ key: "prepare", index: 0 }),
      completed({ key: "prepare/pay", name: "pay", index: 1 }),
      completed({ key: "between", index: 2 }),
      completed({ key: "pay", index: 3 }),
      completed({ key: "prepare/check", name: "check", index: 4 }),
      completed({ key: "pay/check", name: "check", index: 5 }),
      completed({ key: "pay/log", name: "log", index: 6 }),
      completed({ key: "pay/log/log", name: "log", index: 7 }),
      completed({ key: "last", index: 8 }),
    ];

    test("is the step that has it as its key, not a nested one", () => {
      expect(findStep(steps, "pay").key).toBe("pay");
      expect(findStep(steps, { name: "pay" }).key).toBe("pay");
      expect(keys(historyBefore(steps, "pay"))).toEqual([
        "prepare",
        "prepare/pay",
        "between",
        "prepare/check",
      ]);
    });

    test("is the step at the top level, where keys are longer than names", () => {
      const repeated = [
        completed({ key: "outer", index: 0 }),
        completed({ key: "outer/item#0", name: "item", index: 1 }),
        completed({ key: "item#0", name: "item", index: 2 }),
      ];
      expect(findStep(repeated, "item").key).toBe("item#0");
      expect(findStep(repeated, { name: "item", count: 1 }).key).toBe("item#0");
    });

    test("is a nested one by its path", () => {
      expect(findStep(steps, "prepare/pay").key).toBe("prepare/pay");
      expect(keys(historyBefore(steps, "prepare/pay"))).toEqual([]);
    });

    test("is refused, with the paths, where it is inside of different steps", () => {
      const act = () => findStep(steps, "check");
      expect(codeOf(act)).toBe("INVALID_ARGUMENT");
      expect(act).toThrow('"prepare/check", "pay/check"');
    });

    test("is taken where it is several times inside of one step, which is what is meant", () => {
      expect(findStep(steps, "log").key).toBe("pay/log");
    });
  });

  test.each(["unknown", "", "constructor"])("an unknown step %j is refused", (from) => {
    expect(codeOf(() => historyBefore(history, from))).toBe("STEP_NOT_FOUND");
  });
});

describe("one more try for the step that failed the run", () => {
  const plan = (steps: readonly StepRecord[], delayMs = 0, error: StoredError | null = null) =>
    planRetryFailedStep(ref, steps, error, delayMs, 1000);
  const change = (steps: readonly StepRecord[], delayMs = 0) => {
    const made = plan(steps, delayMs).change;
    if (made.kind !== "retryStep") throw new Error("not a retry");
    return made;
  };

  test("forgets all that ran inside it, whatever was recorded first", () => {
    const steps = [
      completed({ key: "a/b/c", name: "c", index: 1, parentKey: "a/b" }),
      completed({ key: "a/b", name: "b", index: 2, parentKey: "a" }),
      errored({ key: "a", index: 3 }),
    ];
    expect([...change(steps).drop].sort()).toEqual([1, 2]);
  });

  test("opens it again with one more attempt, due after the delay, only while errored", () => {
    const steps = [
      completed({ key: "a", index: 0 }),
      errored({ key: "b", index: 1, attempts: 6, starts: 7 }),
    ];
    expect(plan(steps, 500)).toMatchObject({ ...ref, kind: "change", when: { statuses: ["errored"] } });
    expect(change(steps, 500)).toMatchObject({
      dueAt: 1500,
      drop: [],
      releaseEventsOf: [],
      reopen: {
        key: "b",
        index: 1,
        status: "waiting",
        waitsFor: "retry",
        wakeAt: 1500,
        attempts: 6,
        starts: 7,
        maxAttempts: 7,
      },
    });
    expect(change(steps, 500).reopen).not.toHaveProperty("error");
    expect(change(steps, 500).reopen?.errors).toHaveLength(1);
  });

  test.each(["CRASH_LOOP", "HISTORY_UNREADABLE", "INTERRUPTED_BY_RESTART"])(
    "a run that was given up with %s goes on where it was, without any failed step",
    (code) => {
      const made = plan([], 500, { name: "EverstepError", message: "given up", code }).change;
      expect(made).toEqual({ kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: 1500 });
    },
  );

  test("a step without limit stays without", () => {
    expect(change([errored({ key: "b", maxAttempts: null })]).reopen?.maxAttempts).toBeNull();
  });

  test("a wait that timed out gets a window as long as its first", () => {
    const wait = errored({ key: "w", type: "waitForEvent", eventType: "n", createdAt: 100, wakeAt: 400 });
    expect(change([wait], 50).reopen).toMatchObject({
      status: "waiting",
      waitsFor: "event",
      eventType: "n",
      wakeAt: 1350,
    });
  });

  test("what ran inside it is forgotten, and the events it took are there again", () => {
    const steps = [
      completed({ key: "a", index: 0 }),
      errored({ key: "outer", index: 1 }),
      completed({ key: "outer/got", type: "waitForEvent", index: 2 }),
      completed({ key: "outer/in", index: 3 }),
      completed({ key: "outer/in/deep", index: 4 }),
    ];
    expect(change(steps)).toMatchObject({
      drop: [2, 3, 4],
      releaseEventsOf: ["outer/got", "outer/in", "outer/in/deep"],
    });
  });

  test("also where keys carry the attempt of the outer step", () => {
    const steps = [
      errored({ key: "do:outer#1", name: "outer", parentKey: null, index: 0 }),
      completed({ key: "do:outer#1@2/do:in#1", name: "in", parentKey: "do:outer#1", index: 1 }),
    ];
    expect(change(steps).drop).toEqual([1]);
  });

  test("a neighbour whose name only looks like it is left alone", () => {
    const steps = [
      completed({ key: "mail@home", index: 0 }),
      completed({ key: "mail\\/list", parentKey: null, index: 1 }),
      errored({ key: "mail", index: 2 }),
    ];
    expect(change(steps)).toMatchObject({ drop: [], releaseEventsOf: [] });
  });

  test.each([
    ["nothing failed", [completed({ key: "a" })]],
    ["there is no step at all", []],
    ["several failed side by side", [errored({ key: "a", index: 0 }), errored({ key: "b", index: 1 })]],
    ["a later step completed", [errored({ key: "a", index: 0 }), completed({ key: "b", index: 1 })]],
    ["only a nested step failed", [completed({ key: "a", index: 0 }), errored({ key: "a/in", index: 1 })]],
  ])("is refused when %s", (_, steps) => {
    expect(codeOf(() => plan(steps))).toBe("FAILED_STEP_NOT_RETRYABLE");
  });

  describe("after failures that were caught", () => {
    const down = { name: "Error", message: "down", stack: "at b" };
    const other = { name: "Error", message: "other" };
    const caught = errored({ key: "a", index: 0, error: other });
    const fatal = errored({ key: "b", index: 1, error: down });
    const retried = (steps: readonly StepRecord[], error: StoredError | null) =>
      (plan(steps, 0, error).change as { reopen: StepRecord | null }).reopen?.key;

    test("is for the step whose error ended the run", () => {
      expect(retried([caught, fatal], down)).toBe("b");
    });

    test("is for the step whose error is the cause of the one that ended the run", () => {
      const wrapped = {
        name: "Error",
        message: "order failed",
        cause: { ...other, message: "x", cause: down },
      };
      expect(retried([caught, fatal], wrapped)).toBe("b");
    });

    test("is for the last one, where the run's error says nothing and it began after the others had failed", () => {
      const last = { ...fatal, createdAt: caught.settledAt + 1 };
      expect(retried([caught, last], { name: "Error", message: "order failed" })).toBe("b");
    });

    test("is refused where they may have failed side by side, and the run's error says nothing", () => {
      expect(codeOf(() => plan([caught, fatal], 0, { name: "Error", message: "both" }))).toBe(
        "FAILED_STEP_NOT_RETRYABLE",
      );
    });

    test("is refused where another failed beside it that is still to be handed over", () => {
      expect(codeOf(() => plan([errored({ key: "z", index: 3, error: other }), fatal], 0, down))).toBe(
        "FAILED_STEP_NOT_RETRYABLE",
      );
    });

    test("is refused when the failure was compensated, and says what ran after it", () => {
      const steps = [completed({ key: "charge", index: 0 }), fatal, completed({ key: "refund", index: 2 })];
      expect(() => plan(steps, 0, down)).toThrow('"refund" ran after it');
    });
  });

  test("what completed beside it before it failed does not matter, though it began later", () => {
    const steps = [
      errored({ key: "slow", index: 0, settledIndex: 1 }),
      completed({ key: "quick", index: 1, settledIndex: 0 }),
    ];
    expect(change(steps).reopen?.key).toBe("slow");
  });

  test("a wait still open beside it does not matter", () => {
    expect(change([errored({ key: "a", index: 0 }), waiting({ key: "nap", index: 1 })]).reopen?.key).toBe(
      "a",
    );
  });
});

describe("the sleep a run is in", () => {
  test("is the nearest of several", () => {
    const steps = [
      waiting({ key: "late", index: 0, wakeAt: 900 }),
      waiting({ key: "soon", index: 1, wakeAt: 100 }),
      completed({ key: "over", type: "sleep", index: 2 }),
    ];
    expect(activeSleep(steps)?.key).toBe("soon");
  });

  test("is none when it only waits for an event or a retry", () => {
    expect(
      activeSleep([waiting({ key: "w", type: "waitForEvent" }), waiting({ key: "r", type: "do", index: 1 })]),
    ).toBeUndefined();
  });

  test("is ended by an event of the engine's own, addressed to it", () => {
    const sleep = waiting({ key: "nap" });
    expect(planSkipSleep(ref, sleep, "id", 5)).toMatchObject({
      kind: "sendEvent",
      forStep: "nap",
      type: null,
      system: true,
      id: "id",
      createdAt: 5,
    });
  });
});

describe("words for a status", () => {
  test.each(instanceStatuses)("%s is itself", (status) => {
    expect(statusFrom(status)).toBe(status);
  });

  test.each([
    ["pending", "active"],
    ["queued", "active"],
    ["running", "active"],
    ["enqueued", "active"],
    ["suspended", "waiting"],
    ["completed", "complete"],
    ["success", "complete"],
    ["failed", "errored"],
    ["error", "errored"],
    ["cancelled", "terminated"],
    ["canceled", "terminated"],
  ])("%s means %s", (word, status) => {
    expect(statusFrom(word)).toBe(status);
  });

  test.each(["constructor", "__proto__", "toString", "hasOwnProperty", "", "Active", "done"])(
    "%j means none",
    (word) => {
      expect(statusFrom(word)).toBeUndefined();
    },
  );
});

describe("what people ask for, as requests", () => {
  test("pause is for runs that go on, resume for paused ones, terminate for all that have not ended", () => {
    expect(planPause(ref)).toMatchObject({
      when: { statuses: ["active", "waiting"] },
      change: { kind: "pause" },
    });
    expect(planResume(ref, true)).toMatchObject({
      when: { statuses: ["paused"] },
      change: { kind: "resume", shiftDeadlines: true },
    });
    expect(userReason({ actor: "kim" })).toEqual({ source: "user", message: null, by: "kim" });
    expect(userReason({ actor: "" })).toEqual({ source: "user", message: null });
    expect(planTerminate(ref, userReason({ reason: "why" }))).toMatchObject({
      when: { statuses: ["active", "waiting", "paused"] },
      change: { kind: "terminate", reason: { source: "user", message: "why" } },
    });
  });

  test("restart is for every status unless said, and for one run if said", () => {
    expect(planRestart(ref, [])).toMatchObject({ when: { statuses: instanceStatuses } });
    expect(planRestart(ref, []).when).not.toHaveProperty("runNumber");
    expect(planRestart(ref, [], { statuses: ["errored"], runNumber: 3 }).when).toEqual({
      statuses: ["errored"],
      runNumber: 3,
    });
  });

  test("a creation is due now, or later, never in the past", () => {
    const due = (startAt?: number) =>
      planCreate(ref, { params: json({}), ...(startAt === undefined ? {} : { startAt }) }, 100).dueAt;
    expect([due(), due(500), due(3)]).toEqual([100, 500, 100]);
  });

  test("params left out are an empty object; null stays null", () => {
    expect(encodeParams(undefined, defaultLimits).json).toBe("{}");
    expect(encodeParams(null, defaultLimits).json).toBe("null");
    expect(codeOf(() => encodeParams("x".repeat(100), { ...defaultLimits, maxParamsBytes: 50 }))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
  });

  test("an event is checked before anything is asked of the store", () => {
    const send = (event: never) =>
      planSendEvent(ref, event, { ...defaultLimits, maxEventBytes: 50 }, "id", 5);
    expect(codeOf(() => send({ type: "no spaces" } as never))).toBe("INVALID_EVENT_TYPE");
    expect(codeOf(() => send({ type: "n", payload: "x".repeat(100) } as never))).toBe("PAYLOAD_TOO_LARGE");
    expect(send({ type: "n" } as never)).toMatchObject({
      type: "n",
      payload: { json: "null", marks: expect.anything() },
    });
  });

  test("without limits, as many events fit as a store can count", () => {
    const limits = {
      ...defaultLimits,
      maxBufferedEvents: Number.POSITIVE_INFINITY,
      maxBufferedBytes: Number.POSITIVE_INFINITY,
    };
    expect(planSendEvent(ref, { type: "n" }, limits, "id", 5).bufferMax).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe("for any history", () => {
  /** Steps in order of starting, each inside an earlier one or not. */
  const histories = fc
    .array(
      fc.record({ parent: fc.option(fc.nat(20), { nil: null }), status: fc.constantFrom("c", "e", "w") }),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((drawn) => {
      const steps: StepRecord[] = [];
      for (const [index, { parent, status }] of drawn.entries()) {
        const inside = parent === null ? undefined : steps[parent % Math.max(1, steps.length)];
        const key = inside ? `${inside.key}/s${index}` : `s${index}`;
        const make = status === "c" ? completed : status === "e" ? errored : waiting;
        steps.push(make({ key, index, parentKey: inside?.key ?? null }));
      }
      return steps;
    });

  test("what is kept is settled, has its ancestors, and began before", () => {
    fc.assert(
      fc.property(histories, fc.nat(), (steps, pick) => {
        const from = steps[pick % steps.length] as StepRecord;
        const root = steps.find(({ key }) => key === from.key.split("/")[0]) as StepRecord;
        const kept = historyBefore(steps, from.key);
        const known = new Set(keys(kept));
        for (const step of kept) {
          expect(step.status).not.toBe("waiting");
          if (step.parentKey !== null) expect(known).toContain(step.parentKey);
          else expect(step.index).toBeLessThan(root.index);
        }
        // Nothing settled that could be kept is missing.
        for (const step of steps) {
          const could =
            step.status !== "waiting" &&
            (step.parentKey === null ? step.index < root.index : known.has(step.parentKey));
          expect(known.has(step.key)).toBe(could);
        }
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});
