import { describe, expect, test } from "vitest";
import { completed, errored, waiting } from "../../../../tests/support/sample-records.ts";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { type InstanceRecord, inputNotGiven } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import { explain, type WhyTerms } from "./why.ts";

const now = 1_000_000_000;
const minute = 60_000;

function record(facts: Partial<InstanceRecord>): InstanceRecord {
  return {
    ...inputNotGiven,
    workflowName: "order",
    instanceId: "o-1",
    runId: 1,
    runNumber: 1,
    status: "active",
    params: { json: "{}", marks: null },
    output: null,
    error: null,
    terminationReason: null,
    deadLetter: false,
    createdAt: now - minute,
    startedAt: now - minute,
    updatedAt: now - minute,
    completedAt: null,
    pausedAt: null,
    retentionUntil: null,
    executing: false,
    dueAt: now,
    crashCount: 0,
    token: 1,
    begun: [],
    ...facts,
  };
}

function why(
  facts: Partial<InstanceRecord>,
  steps: readonly StepRecord[] = [],
  more: Partial<WhyTerms> = {},
) {
  const definition = defineWorkflow({ name: "order" }, async () => {});
  return explain(record(facts), steps, {
    now,
    definition,
    runnerRuns: true,
    leaseMs: 30_000,
    isHere: false,
    ...more,
  });
}

test("a run that is due but in no list of due runs is told at once, with the way to put it back", () => {
  const unlisted = { unlisted: true } as const;
  expect(why({ ...unlisted, dueAt: now - minute })).toMatchObject({
    reason: "unlisted",
    answer: expect.stringContaining("no list of due runs"),
    advice: expect.stringContaining("Pause and resume"),
  });
  expect(why({ ...unlisted, dueAt: now + minute, status: "waiting" })).toMatchObject({ reason: "unlisted" });
  expect(why({ ...unlisted, executing: true, dueAt: now - 1 })).toMatchObject({ reason: "unlisted" });
  // Its runner puts it back with the next renewal.
  expect(why({ ...unlisted, executing: true, dueAt: now + 30_000 })).toMatchObject({ reason: "executing" });
});

const ended = { dueAt: null, completedAt: now - 5 * minute } as const;
const error = { name: "Error", message: "no answer" };

describe("an instance that has ended", () => {
  test.each([
    [{ ...ended, status: "complete" }, "complete", "It completed 5 minutes ago.", null],
    [
      { ...ended, status: "complete", completedAt: now - 7.9 * minute },
      "complete",
      "It completed 7 minutes ago.",
      null,
    ],
    [
      { ...ended, status: "errored", error },
      "errored",
      "It failed 5 minutes ago with Error: no answer.",
      "Restart the instance instead",
    ],
    [
      { ...ended, status: "errored" },
      "errored",
      "It failed 5 minutes ago with an error that was not recorded.",
      "Restart the instance instead",
    ],
    [
      { ...ended, status: "terminated" },
      "terminated",
      "It was terminated 5 minutes ago by a person.",
      "Restart it",
    ],
  ] as const)("%#: %j", (facts, reason, answer, advice) => {
    expect(why(facts)).toMatchObject({ reason, answer, status: facts.status });
    expect(why(facts).advice)[advice === null ? "toBe" : "toContain"](advice);
  });

  describe("with an error is advised only what will be accepted", () => {
    const failed = errored({ key: "charge", index: 0, error });
    const gone = { ...ended, status: "errored", error } as const;

    test("a retry of the step that failed it", () => {
      expect(why(gone, [failed])).toMatchObject({
        advice: expect.stringContaining("Retry the failed step"),
        mayRetry: true,
        stepKey: "charge",
      });
    });

    test("no retry after undo steps have run", () => {
      const said = why(gone, [failed, completed({ key: "refund", index: 1 })]);
      expect(said).toMatchObject({ mayRetry: false, advice: expect.stringContaining("from a step") });
      expect(said).not.toHaveProperty("stepKey");
    });

    test("no retry where the function itself threw", () => {
      expect(why(gone, [completed({ key: "charge" })])).toMatchObject({ mayRetry: false });
    });

    test("a run that was given up may go on", () => {
      const givenUp = { name: "EverstepError", message: "given up", code: "CRASH_LOOP" };
      expect(why({ ...gone, error: givenUp })).toMatchObject({
        mayRetry: true,
        advice: expect.stringContaining("Let it go on"),
      });
    });
  });

  test.each([
    ["user", "by a person: sold out"],
    ["maxRunDuration", "because it ran longer than its workflow allows: sold out"],
    ["maxSuspendDuration", "because it waited longer than its workflow allows: sold out"],
    ["deadline", "because its deadline passed: sold out"],
    ["restarted", "because it was restarted: sold out"],
  ] as const)("terminated by %s says so", (source, words) => {
    const terminationReason = { source, message: "sold out" };
    expect(why({ ...ended, status: "terminated", terminationReason }).answer).toContain(words);
  });

  test("is told with no more of its error than is read at a glance", () => {
    const { answer } = why({
      ...ended,
      status: "errored",
      error: { name: "Error", message: "x".repeat(5000) },
    });
    expect(answer.length).toBeLessThan(300);
  });
});

describe("an instance that somebody paused", () => {
  test("says since when, and what to do", () => {
    expect(why({ status: "paused", pausedAt: now - 3 * minute, dueAt: null })).toEqual({
      reason: "paused",
      answer: "Somebody paused it 3 minutes ago.",
      advice: "Resume it.",
      status: "paused",
    });
  });

  test("names the step that is still at work", () => {
    const begun = [{ key: "charge", name: "charge", start: 1, at: now }];
    expect(why({ status: "paused", pausedAt: now, executing: true, begun }).answer).toContain(
      '"charge" is still at work',
    );
  });
});

describe("an instance that a runner has", () => {
  const leased = { executing: true, dueAt: now + 30_000 };
  const begun = (start: number) => [{ key: "c", name: "charge", start, at: now - 90_000 }];

  test.each([
    [{ ...leased }, "A runner is at it right now."],
    [
      { ...leased, begun: begun(1) },
      'A runner is at it right now: step "charge" has been at work for 90 seconds.',
    ],
    [
      { ...leased, begun: begun(3) },
      'A runner is at it right now: step "charge" has been at work for 90 seconds, start 3.',
    ],
  ])("%#", (facts, answer) => {
    expect(why(facts)).toMatchObject({ reason: "executing", answer, advice: null });
  });

  test("and has not renewed its lease as it should: since when it was not heard of", () => {
    expect(why({ executing: true, dueAt: now + 9000, begun: begun(1) })).toEqual({
      status: "active",
      reason: "runner-silent",
      answer:
        "The runner that has it was last heard of 21 seconds ago; unless it is heard of again, another takes over in 9 seconds.",
      advice: null,
    });
    const here = why({ executing: true, dueAt: now + 9000, begun: begun(1) }, [], { isHere: true });
    expect(here.reason).toBe("executing");
  });

  test("and has not renewed its lease, waits for another to take over", () => {
    expect(why({ executing: true, dueAt: now - 5000, begun: begun(1) })).toMatchObject({
      reason: "lease-ran-out",
      answer: expect.stringContaining("its lease ran out 5 seconds ago"),
      advice: expect.stringContaining("start one"),
    });
  });

  test("and whose process died before is tried again later", () => {
    expect(why({ crashCount: 3, dueAt: now + 16_000 })).toMatchObject({
      reason: "crash-backoff",
      answer: "Whoever ran it died 3 times in a row without progress; it is tried again in 16 seconds.",
      advice: "Look for what kills the process; after 10 times the instance is given up.",
      until: new Date(now + 16_000),
    });
    expect(why({ crashCount: 1, dueAt: now + 16_000 }).answer).toContain("died once in a row");
  });
});

describe("an instance that waits", () => {
  const at = (step: StepRecord) =>
    why({ status: "waiting", dueAt: now + 2 * minute }, [completed({ key: "first" }), step]);
  const wakeAt = now + 2 * minute;

  test.each([
    [waiting({ key: "nap", wakeAt }), "sleeping", 'Step "nap" sleeps for 2 minutes more.'],
    [
      waiting({ key: "approval", type: "waitForEvent", eventType: "approved", wakeAt }),
      "waiting-for-event",
      'Step "approval" waits for an event of type "approved", for 2 minutes more.',
    ],
    [
      waiting({ key: "news", type: "waitForEvent", topic: "prices", wakeAt }),
      "waiting-for-topic",
      'Step "news" waits for topic "prices", for 2 minutes more.',
    ],
    [
      waiting({ key: "call", type: "do", attempts: 2, wakeAt, errors: [{ attempt: 2, at: now, error }] }),
      "waiting-for-retry",
      'Step "call" failed (attempt 2 of at most 6) after Error: no answer; it is tried again in 2 minutes.',
    ],
    [
      waiting({ key: "call", type: "do", attempts: 2, maxAttempts: null, wakeAt }),
      "waiting-for-retry",
      'Step "call" failed (attempt 2); it is tried again in 2 minutes.',
    ],
  ])("%#", (step, reason, answer) => {
    expect(at(step)).toMatchObject({
      reason,
      answer,
      stepKey: step.key,
      waitsFor: {
        stepName: step.name,
        ...(step.eventType === null ? {} : { eventType: step.eventType }),
        ...(step.topic === null ? {} : { topic: step.topic }),
      },
      until: new Date(wakeAt),
      status: "waiting",
    });
  });

  test("for several things is told by the one that ends first", () => {
    const steps = [
      waiting({ key: "late", wakeAt: now + 9 * minute }),
      waiting({ key: "soon", wakeAt: now + minute }),
    ];
    expect(why({ status: "waiting", dueAt: now + minute }, steps)).toMatchObject({ stepKey: "soon" });
  });

  test.each([
    [500, "1 second"],
    [12_100, "13 seconds"],
    [119_000, "119 seconds"],
    [120_000, "2 minutes"],
    [7_200_000, "2 hours"],
    [3 * 86_400_000, "3 days"],
    [-5000, "0 seconds"],
  ])("%i ms are told as %s", (ms, words) => {
    expect(
      why({ status: "waiting", dueAt: now + 1 }, [waiting({ key: "nap", wakeAt: now + ms })]).answer,
    ).toContain(`for ${words} more`);
  });
});

describe("an instance that could go on", () => {
  const capped = defineWorkflow({ name: "order", concurrency: 2 }, async () => {});
  const late = { dueAt: now - minute };
  const startsAt = new Date(now + 90_000).toISOString();

  test.each([
    ["not yet", { dueAt: now + 90_000 }, {}, "not-started-yet", `It starts in 90 seconds, at ${startsAt}.`],
    ["now", { dueAt: now - 100 }, {}, "due-now", "It is due now"],
    ["at once", { dueAt: null }, {}, "due-now", "It is about to go on."],
    ["when there is room", late, {}, "queued", "every place of the runners is taken"],
    [
      "when somebody runs it",
      late,
      { runnerRuns: false },
      "no-runner",
      "no runner is at work in this process",
    ],
    [
      "when another of its kind ends",
      late,
      { definition: capped },
      "queued",
      'at most 2 of "order" run at once',
    ],
  ] as const)("%s", (_when, facts, terms, reason, answer) => {
    const said = why(facts, [], terms);
    expect(said).toMatchObject({ reason, answer: expect.stringContaining(answer) });
    // People read it on the page and at the command line: it names no code and no route.
    expect(said.advice ?? "").not.toMatch(/\(\)|runner\.|app\.|route/);
  });

  test("when another of its kind ends, or when somebody runs any of them", () => {
    const { advice } = why(late, [], { definition: capped, runnerRuns: false });
    expect(advice).toContain("No runner is at work in this process");
    expect(why(late, [], { definition: capped }).advice).not.toContain("No runner");
  });
});
