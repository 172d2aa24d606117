import { defineWorkflow, httpClassifier, NonRetryableError, RetryAfterError } from "everstep";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

/** A workflow with one step that fails the first `failures` times. */
function flaky(failures: number, config: Parameters<typeof step>[0], options: object = {}) {
  const calls: number[] = [];
  const workflow = defineWorkflow({ name: "w", ...options }, async (_event, step) =>
    step.do("flaky", config, async ({ attempt }) => {
      calls.push(attempt);
      if (calls.length <= failures) throw new Error(`failure ${calls.length}`);
      return `ok at ${attempt}`;
    }),
  );
  return { workflow, calls };
}
declare function step(config: import("everstep").StepConfig): void;

onEachStore("4.2 Retries and timeouts", (tell) => {
  test("31. fails twice then succeeds with limit 2: three calls, complete", async () => {
    const { workflow, calls } = flaky(2, { retries: { limit: 2, delay: "1 second", backoff: "constant" } });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: "ok at 3" });
    expect(calls).toEqual([1, 2, 3]);
  });

  test("32. limit exhausted: errored with the last error, calls are limit + 1, a dead letter", async () => {
    const { workflow, calls } = flaky(9, { retries: { limit: 2, delay: "1 second" } });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(await story.status("i")).toMatchObject({ status: "errored", error: { message: "failure 3" } });
    expect(calls).toHaveLength(3);
    expect((await instance.details()).deadLetter).toBe(true);
    expect((await story.workflows.W.list({ deadLetter: true })).items.map(({ id }) => id)).toEqual(["i"]);
    const [step] = (await story.history("i")).steps;
    expect(step?.errors.map(({ message }) => message)).toEqual(["failure 1", "failure 2", "failure 3"]);
  });

  test("an instance is a dead letter also when the error of the exhausted step is wrapped with a cause", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const fails = async () => {
        throw new Error("down");
      };
      await step.do("ask", { retries: { limit: 1, delay: 0 } }, fails).catch((cause) => {
        throw new Error("order failed", { cause });
      });
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(await instance.details()).toMatchObject({
      status: "errored",
      error: { message: "order failed" },
      deadLetter: true,
    });
  });

  test("a NonRetryableError as the cause of what is thrown: exactly one call", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("charge", async () => {
        calls++;
        throw new Error("payment failed", { cause: new NonRetryableError("card declined") });
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 hour");
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { message: "payment failed" },
    });
    expect(calls).toBe(1);
  });

  test("what a schema found of a child's params is in the status and the history, not only in a catch", async () => {
    const params = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => ({
          issues: [{ message: "must be 1", path: [{ key: "n" }, 0], expected: () => 1 }],
        }),
      },
    } as const;
    const child = defineWorkflow({ name: "child", params }, async () => {});
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("begin", async ({ startWorkflow }) => startWorkflow(child, { params: {} })),
    );
    const story = tell({ W: workflow, CHILD: child });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const details = { issues: [{ message: "must be 1", path: ["n", 0] }] };
    const error = { code: "WORKFLOW_PARAMS_INVALID", details };
    expect(await story.status("i")).toMatchObject({ status: "errored", error });
    expect((await story.history("i")).steps).toMatchObject([{ error, errors: [error] }]);
  });

  test("33. NonRetryableError: exactly one call, and no dead letter (INV-10)", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("fatal", async () => {
        calls++;
        throw new NonRetryableError("card declined");
      });
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("1 day");
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { name: "NonRetryableError", message: "card declined" },
    });
    expect(calls).toBe(1);
    expect((await instance.details()).deadLetter).toBe(false);
  });

  test.each([
    ["a subclass", () => new (class Declined extends NonRetryableError {})("no")],
    ["a custom name", () => new NonRetryableError("no", "Declined")],
    ["the same name from another realm", () => Object.assign(new Error("no"), { name: "NonRetryableError" })],
  ])("34. %s is also non-retryable", async (_title, error) => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("fatal", async () => {
        calls++;
        throw error();
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 day");
    expect((await story.status("i")).status).toBe("errored");
    expect(calls).toBe(1);
  });

  test("35. no config: the default policy retries five times, the first after 10 seconds", async () => {
    const { workflow, calls } = flaky(9, {});
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance(9_999);
    expect(calls).toHaveLength(1);
    await story.advance(1);
    expect(calls).toHaveLength(2);
    await story.advance("1 hour");
    expect(calls).toHaveLength(6);
  });

  test("36. a partial config (delay only) keeps the other defaults", async () => {
    const { workflow, calls } = flaky(9, { retries: { delay: "1 second" } });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    // 1 + 2 + 4 + 8 + 16 seconds: exponential, five retries.
    await story.advance(30_999);
    expect(calls).toHaveLength(5);
    await story.advance(1);
    expect(calls).toHaveLength(6);
    expect((await story.status("i")).status).toBe("errored");
  });

  test.each([
    ["exponential", [1, 2, 4]],
    ["linear", [1, 2, 3]],
    ["constant", [1, 1, 1]],
  ] as const)("37. %s delays are d times %j", async (backoff, factors) => {
    const at: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("flaky", { retries: { limit: 3, delay: "10 seconds", backoff } }, async () => {
        at.push(story.clock.now().getTime());
        throw new Error("no");
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("10 minutes");
    expect(at.slice(1).map((time, n) => (time - (at[n] ?? 0)) / 10_000)).toEqual(factors);
  });

  test("38. the next attempt is timed from the failure, not from the claim", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("slow to fail", { retries: { limit: 1, delay: "1 minute" } }, async () => {
        await story.clock.sleep("5 minutes");
        throw new Error("no");
      });
    });
    const story = tell({ W: workflow });
    const start = story.clock.now().getTime();
    await story.workflows.W.create({ id: "i" });
    await story.advance("5 minutes");
    const [step] = (await story.history("i")).steps;
    expect(step?.nextRetryAt?.getTime()).toBe(start + 6 * 60_000);
  });

  test("39. a retry tick before its time does not run the body and stays scheduled", async () => {
    const { workflow, calls } = flaky(1, { retries: { limit: 1, delay: "1 hour" } });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const before = (await instance.details()).dueAt;
    // An event of no interest, and a wake of its own, must not bring the retry forward.
    await story.sendEvent("i", { type: "other" });
    await story.advance("59 minutes");
    expect(calls).toHaveLength(1);
    expect((await instance.details()).dueAt).toEqual(before);
    await story.advance("1 minute");
    expect(calls).toHaveLength(2);
  });

  test("40. attempts already at the maximum: the next claim errors without calling the body", async () => {
    const { workflow, calls } = flaky(9, { retries: { limit: 1, delay: "1 minute" } });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const record = await story.app.store.getInstance({ workflowName: "w", instanceId: "i" });
    const page = await story.app.store.listSteps(record?.runId ?? "", { limit: 1 });
    const [waiting] = page.items;
    // As if the second attempt had been recorded and nothing after it: attempts 2 of 2, still waiting.
    await rewriteStep(story, record, { ...waiting, attempts: 2 });
    await story.restartRunner();
    await story.advance("1 minute");
    expect(calls).toHaveLength(1);
    expect((await instance.status()).status).toBe("errored");
  });

  test("41. attempts made before a process restart count afterwards", async () => {
    const { workflow, calls } = flaky(9, { retries: { limit: 2, delay: "1 minute", backoff: "constant" } });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 minute");
    await story.restartRunner();
    await story.advance("1 minute");
    expect(calls).toEqual([1, 2, 3]);
    expect((await story.status("i")).status).toBe("errored");
  });

  test("42. an attempt over its timeout counts as a failure, and its late result is ignored", async () => {
    const finish: ((value: string) => void)[] = [];
    const aborted: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do(
        "slow",
        { timeout: "1 second", retries: { limit: 1, delay: "1 second" } },
        ({ attempt, signal }) => {
          signal.addEventListener("abort", () => aborted.push((signal.reason as Error).name));
          if (attempt === 2) return "from attempt 2";
          return new Promise<string>((resolve) => finish.push(resolve));
        },
      ),
    );
    const story = tell({ W: workflow }, { patience: 1 });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 second");
    expect(aborted).toEqual(["StepTimeoutError"]);
    finish[0]?.("from attempt 1, late");
    await story.settle();
    await story.advance("2 seconds");
    expect(await story.status("i")).toEqual({ status: "complete", output: "from attempt 2" });
    const [step] = (await story.history("i")).steps;
    expect(step?.errors.map(({ code }) => code)).toEqual(["STEP_TIMEOUT"]);
  });

  test("43. timeout timers are cleared after success", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (let i = 0; i < 20; i++) await step.do(`step ${i}`, async () => i);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(story.runtime.nextTimerAt()).toBeNull();
  });

  test("44. with a cap a timeout above it is refused; without one any timeout works", async () => {
    const run = async (_event: unknown, step: import("everstep").WorkflowStep) =>
      step.do("long", { timeout: "2 hours" }, async () => "fine");
    const capped = defineWorkflow({ name: "capped", limits: { maxStepTimeout: 60 * 60 * 1000 } }, run);
    const free = defineWorkflow({ name: "free" }, run);
    const story = tell({ CAPPED: capped, FREE: free });
    await story.workflows.CAPPED.create({ id: "capped" });
    await story.workflows.FREE.create({ id: "free" });
    await story.runUntilIdle();
    expect(await story.status("capped")).toMatchObject({
      status: "errored",
      error: { code: "INVALID_DURATION" },
    });
    expect(await story.status("free")).toEqual({ status: "complete", output: "fine" });
  });

  test("45. terminate during a retry delay takes effect at once", async () => {
    const { workflow, calls } = flaky(9, { retries: { limit: 5, delay: "1 hour" } });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.terminate({ reason: "not needed" });
    expect((await instance.details()).terminationReason).toEqual({ source: "user", message: "not needed" });
    await story.advance("1 day");
    expect(calls).toHaveLength(1);
    expect((await story.status("i")).status).toBe("terminated");
  });

  test("50. a mutation cannot change the step's return value", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("write", async ({ mutate }) => {
        mutate(() => {
          // what it returns is ignored
          return 42 as unknown as undefined;
        });
        return "the body's value";
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "the body's value" });
  });

  test("51. a retry that would start after the run's deadline is not scheduled; the run ends instead", async () => {
    const { workflow, calls } = flaky(9, { retries: { limit: 5, delay: "1 hour" } });
    const story = tell({ W: workflow });
    const deadline = new Date(story.clock.now().getTime() + 10 * 60_000);
    const instance = await story.workflows.W.create({ id: "i", deadline });
    await story.runUntilIdle();
    expect(calls).toHaveLength(1);
    expect((await instance.details()).terminationReason?.source).toBe("deadline");
  });

  test("52. two runners claiming the same retry: one wins, one attempt is made", async () => {
    const { workflow, calls } = flaky(1, { retries: { limit: 1, delay: "1 minute" } });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.clock.advance("1 minute");
    const processed = await Promise.all([story.runner("a").tick(), story.runner("b").tick()]);
    expect(processed.toSorted()).toEqual([0, 1]);
    expect(calls).toHaveLength(2);
    expect((await story.status("i")).status).toBe("complete");
  });

  test.each([
    [
      "a Retry-After header",
      () => ({ status: 429, response: { headers: new Headers({ "retry-after": "90" }) } }),
    ],
    ["RetryAfterError", () => new RetryAfterError("busy", "90 seconds")],
  ])("53. a rate limit with %s schedules exactly that delay", async (_title, error) => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w", classify: httpClassifier }, async (_event, step) =>
      step.do("call", async () => {
        calls++;
        if (calls === 1) throw error();
        return calls;
      }),
    );
    const story = tell({ W: workflow });
    const start = story.clock.now().getTime();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const [step] = (await story.history("i")).steps;
    expect(step?.nextRetryAt?.getTime()).toBe(start + 90_000);
    await story.advance("90 seconds");
    expect(await story.status("i")).toEqual({ status: "complete", output: 2 });
  });

  test.each([
    [404, 1],
    [422, 1],
    [500, 6],
    [503, 6],
  ])("54. an HTTP %d ends after %d calls", async (status, expected) => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w", classify: httpClassifier }, async (_event, step) =>
      step.do("call", async () => {
        calls++;
        throw Object.assign(new Error(`HTTP ${status}`), { status });
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 day");
    expect(calls).toBe(expected);
    expect((await story.status("i")).status).toBe("errored");
  });

  test("55. the idempotency key is the same on every attempt", async () => {
    const keys: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("charge", { retries: { limit: 1, delay: 1 } }, async ({ idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length === 1) throw new Error("again");
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(keys).toEqual(["w/i/1/charge", "w/i/1/charge"]);
  });

  test("56. limit Infinity survives a round trip through the store", async () => {
    const { workflow, calls } = flaky(50, {
      retries: { limit: Number.POSITIVE_INFINITY, delay: 10, backoff: "constant" },
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.history("i")).steps[0]?.maxAttempts).toBeNull();
    await story.advance("1 minute");
    expect(calls).toHaveLength(51);
    expect((await story.status("i")).status).toBe("complete");
  });
});

/** Writes a step record as it is, under a claim of its own that is then given back. */
async function rewriteStep(story: unknown, record: unknown, step: unknown): Promise<void> {
  type Store = import("everstep/store").Store;
  type Instance = import("everstep/store").InstanceRecord;
  const { app, clock } = story as { app: { store: Store }; clock: { now(): Date } };
  const { store } = app;
  const now = clock.now().getTime();
  const { runId, token } = record as Instance;
  await store.write([{ kind: "wake", runId, token }], now);
  const [claim] = await store.claim({
    owner: "test",
    token: token + 1,
    workflows: [{ name: "w", concurrency: null }],
    limit: 1,
    now,
    leaseUntil: now + 1000,
  });
  const { wakeAt } = step as { wakeAt: number };
  await store.write(
    [
      {
        kind: "commit",
        lease: claim?.lease as never,
        boundary: {
          number: 1,
          steps: [step as never],
          timeouts: [],
          consumed: [],
          eventSeqSeen: 0,
          logs: [],
          begun: [],
          next: { kind: "suspend", dueAt: wakeAt, task: "retry" },
        },
        alongside: [],
        mutations: null,
        leaseUntil: 0,
      },
    ],
    now,
  );
}
