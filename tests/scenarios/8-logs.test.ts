import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

onEachStore("4.8 Details, logs and harness", (tell) => {
  test("169. details show the current step: running, retrying, waiting for what and until when, or the last one", async () => {
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("first", async () => gate.wait());
      await step.do(
        "flaky",
        { retries: { limit: 1, delay: "1 minute" }, timeout: "5 minutes" },
        async ({ attempt }) => {
          if (attempt === 1) throw new Error("again");
        },
      );
      await step.sleep("nap", "1 hour");
      await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
      await step.do("last", async () => "done");
    });
    const story = tell({ W: workflow });
    const start = story.clock.now().getTime();
    const instance = await story.workflows.W.create({ id: "i" });
    const now = async () => (await instance.details()).currentStep;
    expect(await now()).toBeUndefined();
    await story.tick();
    expect(await now()).toMatchObject({ name: "first", status: "running", starts: 1 });
    await gate.open();
    await story.runUntilIdle();
    expect(await now()).toMatchObject({
      name: "flaky",
      status: "waiting",
      attempts: 1,
      maxAttempts: 2,
      timeoutMs: 300_000,
      nextRetryAt: new Date(start + 60_000),
      error: { name: "Error", message: "again" },
    });
    await story.advance("1 minute");
    expect(await now()).toMatchObject({ name: "nap", type: "sleep", wakeAt: new Date(start + 61 * 60_000) });
    await story.advance("1 hour");
    expect(await now()).toMatchObject({ name: "approval", status: "waiting", waitEventType: "approved" });
    await instance.sendEvent({ type: "approved" });
    await story.runUntilIdle();
    expect(await now()).toMatchObject({ name: "last", status: "completed", result: "done" });
  });

  test("170. log lines keep level, category, step and attempt; replayed ones are flagged; retries have attempts 1 and 2", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.log.info("outside", { n: 1 }, { category: "notes" });
      await step.do("flaky", { retries: { limit: 1, delay: "1 second" } }, async ({ attempt }) => {
        await step.log.warn(`attempt ${attempt}`);
        if (attempt === 1) throw new Error("again");
      });
      await step.log.debug("after");
      await step.sleep("nap", "1 minute");
      await step.log.error("end");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("2 minutes");
    const lines = await story.logs("i");
    const facts = lines.map(({ level, category, message, stepKey, attempt, isReplay }) =>
      [level, category, message, stepKey, attempt, isReplay].join(" "),
    );
    expect(facts).toEqual([
      "info notes outside   false",
      "warn workflow attempt 1 flaky 1 false",
      "info notes outside   true",
      "warn workflow attempt 2 flaky 2 false",
      "debug workflow after   false",
      "info notes outside   true",
      "debug workflow after   true",
      "error workflow end   false",
    ]);
    expect(lines[0]?.data).toEqual({ n: 1 });
  });

  test("171. logs are filtered by level and category and paged in order of writing", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (let n = 0; n < 10; n++) {
        const category = n % 2 === 0 ? "even" : "odd";
        await (n % 3 === 0
          ? step.log.warn(`line ${n}`, undefined, { category })
          : step.log.info(`line ${n}`, n, { category }));
      }
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const messages = async (options: object) =>
      (await instance.logs(options)).items.map(({ message }) => message);
    expect(await messages({ level: "warn" })).toEqual(["line 0", "line 3", "line 6", "line 9"]);
    expect(await messages({ category: "odd", level: "warn" })).toEqual(["line 3", "line 9"]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await instance.logs({ pageSize: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...page.items.map(({ message }) => message));
      cursor = page.cursor;
    } while (cursor);
    expect(seen).toEqual(Array.from({ length: 10 }, (_, n) => `line ${n}`));
  });

  test("172. two concurrent steps logging: each line carries its own step key", async () => {
    const gates = [createGate(), createGate()];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const talk = (name: string, gate = gates[0]) =>
        step.do(name, async () => {
          await step.log.info("begins");
          await gate?.wait();
          await step.log.info("ends");
        });
      await Promise.all([talk("left", gates[0]), talk("right", gates[1])]);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.tick();
    await gates[1]?.open();
    await gates[0]?.open();
    const facts = (await story.logs("i")).map(({ stepKey, message }) => `${stepKey} ${message}`);
    expect(facts).toEqual(["left begins", "right begins", "right ends", "left ends"]);
  });

  test("176. the harness's clock drives sleeps, timeouts and retries; ids are reproducible by seed", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 day");
      await step.do("flaky", { retries: { limit: 1, delay: "1 hour" } }, async ({ attempt }) => {
        if (attempt === 1) throw new Error("again");
      });
      return step
        .waitForEvent("never", { type: "never", timeout: "30 minutes" })
        .catch((error) => error.name);
    });
    const ids: string[] = [];
    for (let round = 0; round < 2; round++) {
      const story = tell({ W: workflow }, { seed: 7 });
      const instance = await story.workflows.W.create();
      ids.push(instance.id);
      await story.advance("1 day");
      await story.advance("1 hour");
      expect((await instance.status()).status).toBe("waiting");
      await story.advance("30 minutes");
      expect(await instance.status()).toEqual({ status: "complete", output: "WaitForEventTimeoutError" });
    }
    expect(ids[0]).toBe(ids[1]);
  });

  test("177. the harness has several runners and runner restarts over one database", async () => {
    const by: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (let n = 0; n < 3; n++) {
        await step.do(`step ${n}`, async () => by.push(`step ${n}`));
        await step.sleep(`nap ${n}`, "1 minute");
      }
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runner("a").tick();
    await story.clock.advance("1 minute");
    await story.runner("b").tick();
    await story.restartRunner("a");
    await story.clock.advance("1 minute");
    await story.runner("a").tick();
    await story.clock.advance("1 minute");
    await story.runner("b").tick();
    expect(by).toEqual(["step 0", "step 1", "step 2"]);
    expect((await story.status("i")).status).toBe("complete");
  });

  test("178. the harness mocks step results, errors n times, timeouts, events, event timeouts and sleeps", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const user = await step.do("load", async () => "real user");
      const paid = await step.do(
        "pay",
        { retries: { limit: 3, delay: "1 minute" } },
        async () => "really paid",
      );
      const slow = await step.do(
        "slow",
        { timeout: "1 second", retries: { limit: 1, delay: 1 } },
        async () => "fast",
      );
      await step.sleep("nap", "1 year");
      const { payload } = await step.waitForEvent("approval", { type: "approved" });
      const late = await step.waitForEvent("late", { type: "late" }).catch((error) => error.name);
      return { user, paid, slow, payload, late };
    });
    const story = tell({ W: workflow });
    const mock = story.mock("W");
    mock.step("load").returns("mocked user");
    mock.step("pay").throws(new Error("down"), { times: 2 });
    mock.step("slow").timesOut({ times: 1 });
    mock.event("approved").arrives({ payload: { by: "kim" } });
    mock.event("late").timesOut();
    mock.disableSleeps().disableRetryDelays();
    await story.workflows.W.create({ id: "i" });
    await story.advance("2 days");
    expect(await story.status("i")).toEqual({
      status: "complete",
      output: {
        user: "mocked user",
        paid: "really paid",
        slow: "fast",
        payload: { by: "kim" },
        late: "WaitForEventTimeoutError",
      },
    });
    const attempts = (await story.history("i")).steps.map(({ name, attempts: n }) => `${name} ${n}`);
    expect(attempts.slice(0, 3)).toEqual(["load 1", "pay 3", "slow 2"]);
  });

  test("who watches the process hears of every failed attempt and every failed run, with the step and the next attempt", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("charge", { retries: { limit: 1, delay: "10 seconds" } }, async () => {
        throw new Error("bank is down");
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect(story.notices).toEqual([
      'w/i: Step "charge" failed (attempt 1 of 2), next at 2026-01-01T00:00:10.000Z: Error: bank is down',
      "w/i: The run ended with an error: Error: bank is down",
    ]);
    const [step] = (await story.history("i")).steps;
    expect(step?.errors.map(({ stack }) => stack)).toEqual([
      expect.stringContaining("8-logs.test.ts"),
      expect.stringContaining("8-logs.test.ts"),
    ]);
  });

  test("a step that is never begun because nobody awaited it is named in the log", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      void step.do("write report", async () => "never");
      return "done";
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.logs("i")).map(({ category, message }) => [category, message])).toEqual([
      ["system", expect.stringContaining('"write report"')],
    ]);
  });

  test("the manifest says what is registered, with the limits that apply", async () => {
    const checked = {
      "~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) },
    };
    const plain = defineWorkflow({ name: "plain", limits: { maxSteps: 7 } }, async () => 1);
    const strict = defineWorkflow({ name: "strict", params: checked, concurrency: 3 }, async () => 1);
    const story = tell({ PLAIN: plain, STRICT: strict }, { limits: { maxSteps: 5, maxBatchSize: 9 } });
    const facts = (await story.app.manifest()).map(({ limits: { maxSteps, maxBatchSize }, ...rest }) => ({
      ...rest,
      maxSteps,
      maxBatchSize,
    }));
    expect(facts).toEqual([
      {
        key: "PLAIN",
        name: "plain",
        checksParams: false,
        checksOutput: false,
        concurrency: null,
        maxSteps: 7,
        maxBatchSize: 9,
      },
      {
        key: "STRICT",
        name: "strict",
        checksParams: true,
        checksOutput: false,
        concurrency: 3,
        maxSteps: 5,
        maxBatchSize: 9,
      },
    ]);
  });

  test("179. listeners that fail do not affect a run: hooks are told again, notices and problems are dropped", async () => {
    const told: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 minute");
      return step.do("flaky", { retries: { limit: 1, delay: "1 second" } }, async ({ attempt }) => {
        if (attempt === 1) throw new Error("again");
        return "done";
      });
    });
    const fails = (): never => {
      throw new Error("the listener is broken");
    };
    const story = tell(
      { W: workflow },
      {
        onNotice: fails,
        onProblem: fails,
        hooks: {
          onEnded: ({ status }) => {
            told.push(status);
            if (told.length === 1) fails();
          },
        },
      },
    );
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.status("i")).status).toBe("waiting");
    await story.advance("5 minutes");
    expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
    expect(told).toEqual(["complete", "complete"]);
  });
});
