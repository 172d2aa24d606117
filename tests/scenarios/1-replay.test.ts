import { defineWorkflow, NonRetryableError, type WorkflowStep } from "everstep";
import { defineEntrypoint, WorkflowEntrypoint } from "everstep/cloudflare";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

/** Counts how often each body ran. */
function counter() {
  const counts: Record<string, number> = {};
  return { counts, count: (name: string) => (counts[name] = (counts[name] ?? 0) + 1) };
}

onEachStore("4.1 Replay and step cache", (tell) => {
  test("1. a completed step's body is not called again on later ticks, and its output is the same (INV-8)", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.do("first", async () => ({ n: count("first") }));
      await step.sleep("nap", "1 hour");
      return first;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("2 hours");
    expect(await story.status("i")).toEqual({ status: "complete", output: { n: 1 } });
    expect(counts).toEqual({ first: 1 });
  });

  test("2. a run stopped at a wait and resumed in a new process has its first results from storage", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const a = await step.do("a", async () => count("a"));
      const b = await step.do("b", async () => count("b") + 10);
      await step.waitForEvent("go", { type: "go" });
      const c = await step.do("c", async () => count("c") + 100);
      return [a, b, c];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.sendEvent("i", { type: "go" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: [1, 11, 101] });
    expect(counts).toEqual({ a: 1, b: 1, c: 1 });
  });

  test.each([
    ["3. null", null],
    ["4. 0", 0],
    ["4. false", false],
    ["4. the empty string", ""],
    ["5. undefined", undefined],
  ])("%s as a result is not run again and replays as itself", async (_title, value) => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const result = await step.do("a", async () => {
        count("a");
        return value;
      });
      await step.sleep("nap", "1 minute");
      return { same: Object.is(result, value) };
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: { same: true } });
    expect(counts).toEqual({ a: 1 });
  });

  test("6. the same name used twice in sequence is two steps, and replay tells them apart", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.do("same", async () => count("same"));
      const second = await step.do("same", async () => count("same") + 100);
      await step.sleep("nap", "1 minute");
      const third = await step.do("same", async () => count("same") + 200);
      return [first, second, third];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: [1, 102, 203] });
    expect(counts).toEqual({ same: 3 });
    const { steps } = await story.history("i");
    expect(steps.map(({ stepKey }) => stepKey)).toEqual(["same", "same#2", "nap", "same#3"]);
    expect((await story.logs("i")).filter(({ category }) => category === "system")).toEqual([]);
  });

  test("7. a wait with a constant name called twice takes two events", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.waitForEvent("wait", { type: "note" });
      const second = await step.waitForEvent("wait", { type: "note" });
      return [first.payload, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.sendEvent("i", { type: "note", payload: "one" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "waiting" });
    await story.restartRunner();
    await story.sendEvent("i", { type: "note", payload: "two" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
    const { events, steps } = await story.history("i");
    expect(events.map(({ payload, deliveredAt }) => [payload, deliveredAt !== null])).toEqual([
      ["one", true],
      ["two", true],
    ]);
    expect(steps.map(({ stepKey }) => stepKey)).toEqual(["wait", "wait#2"]);
  });

  test("8. the same name used concurrently raises DUPLICATE_STEP_KEY", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await Promise.all([step.do("same", async () => 1), step.do("same", async () => 2)]);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { code: "DUPLICATE_STEP_KEY" },
    });
  });

  test("9. a name used by do, sleep and waitForEvent is three steps (INV-15)", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const done = await step.do("same", async () => 1);
      await step.sleep("same", "1 second");
      const { payload } = await step.waitForEvent("same", { type: "note" });
      return [done, payload, await step.do("same", async () => 4)];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 second");
    await story.sendEvent("i", { type: "note", payload: 3 });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: [1, 3, 4] });
    const { steps } = await story.history("i");
    expect(steps.map(({ stepKey, type }) => [stepKey, type])).toEqual([
      ["same", "do"],
      ["same#2", "sleep"],
      ["same#3", "waitForEvent"],
      ["same#4", "do"],
    ]);
  });

  test("10. with repeat, three uses at the same time are numbered in the order of the calls", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const all = [0, 1, 2].map((i) => step.do("item", { repeat: true }, async () => i));
      return Promise.all(all);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.status("i")).output).toEqual([0, 1, 2]);
    const { steps } = await story.history("i");
    expect(steps.map(({ stepKey }) => stepKey)).toEqual(["item", "item#2", "item#3"]);
  });

  test("11. a suspended repeated step keeps its number after resume", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const retries = { limit: 1, delay: "1 minute" };
      await step.do("item", async () => "first");
      const second = await step.do("item", { retries }, async ({ attempt }) => {
        if (attempt === 1) throw new Error("again");
        return "second";
      });
      return second;
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 minute");
    expect((await story.status("i")).output).toBe("second");
    const { steps } = await story.history("i");
    expect(steps.map(({ stepKey, attempts }) => [stepKey, attempts])).toEqual([
      ["item", 1],
      ["item#2", 2],
    ]);
  });

  test("12. durable steps inside for and while loops with index names complete in order", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const seen: string[] = [];
      for (let i = 0; i < 3; i++) seen.push(await step.do(`for ${i}`, async () => `for ${i}`));
      let left = 2;
      while (left > 0) {
        seen.push(await step.do(`while ${left}`, async () => `while ${left}`));
        await step.sleep(`nap ${left}`, "1 second");
        left--;
      }
      return seen;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    expect((await story.status("i")).output).toEqual(["for 0", "for 1", "for 2", "while 2", "while 1"]);
  });

  test("13. two parallel steps both record results and the run completes once", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      Promise.all([step.do("a", async () => "A"), step.do("b", async () => "B")]),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["A", "B"] });
    expect(await story.steps("i")).toEqual(["a completed", "b completed"]);
  });

  test("14. in Promise.all a sibling finished before another branch suspends is not executed a second time", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const [, b] = await Promise.all([step.sleep("nap", "1 hour"), step.do("b", async () => count("b"))]);
      return b;
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 hour");
    expect(await story.status("i")).toEqual({ status: "complete", output: 1 });
    expect(counts).toEqual({ b: 1 });
  });

  test("15. in Promise.all one branch retrying does not rerun the sibling that completed", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      Promise.all([
        step.do("good", async () => count("good")),
        step.do("flaky", { retries: { limit: 2, delay: "1 minute", backoff: "constant" } }, async () => {
          if (count("flaky") < 3) throw new Error("not yet");
          return "at last";
        }),
      ]),
    );
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("3 minutes");
    expect(await story.status("i")).toEqual({ status: "complete", output: [1, "at last"] });
    expect(counts).toEqual({ good: 1, flaky: 3 });
  });

  test("16. a race keeps its winner after replay, and the loser's later failure changes nothing (INV-17)", async () => {
    const { counts, count } = counter();
    const losing: { fail: (error: Error) => void } = { fail: () => {} };
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const winner = await Promise.race([
        step.do("slow", { retries: false }, () => {
          count("slow");
          return new Promise<string>((_resolve, reject) => {
            losing.fail = reject;
          });
        }),
        step.do("fast", async () => {
          count("fast");
          return "fast";
        }),
      ]);
      const seen = await step.do("record", async () => winner);
      await step.waitForEvent("go", { type: "go" });
      return { winner, seen };
    });
    const story = tell({ W: workflow }, { patience: 1 });
    await story.workflows.W.create({ id: "i" });
    await story.tick();
    losing.fail(new Error("too late"));
    await story.settle();
    await story.restartRunner();
    await story.sendEvent("i", { type: "go" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: { winner: "fast", seen: "fast" } });
    expect(counts).toEqual({ slow: 1, fast: 1 });
  });

  test("17. any inside an outer step returns the first success and is stable on replay", async () => {
    const { count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step.do("choose", async () =>
        Promise.any([
          step.do("bad", { retries: false }, async () => {
            throw new Error("no");
          }),
          step.do("good", async () => `good ${count("good")}`),
        ]),
      );
      await step.sleep("nap", "1 hour");
      return first;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 hour");
    expect(await story.status("i")).toEqual({ status: "complete", output: "good 1" });
  });

  test("18. nested steps record parent and depth; a cached parent skips its subtree without renumbering siblings", async () => {
    const { counts, count } = counter();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const value = await step.do("outer", async () => {
        count("outer");
        return step.do("inner", async () => count("inner"));
      });
      await step.sleep("nap", "1 hour");
      await step.do("after", async () => count("after"));
      return value;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 hour");
    expect(counts).toEqual({ outer: 1, inner: 1, after: 1 });
    const { steps } = await story.history("i");
    const facts = steps.map(({ stepKey, parentKey, depth, index }) => [stepKey, parentKey, depth, index]);
    expect(facts).toEqual([
      ["outer", null, 0, 0],
      ["outer/inner", "outer", 1, 1],
      ["nap", null, 0, 2],
      ["after", null, 0, 3],
    ]);
  });

  test("19. a step's output is visible in its history with the value", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("a", async () => ({ list: [1, { deep: true }] }));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.history("i")).steps[0]?.result).toEqual({ list: [1, { deep: true }] });
  });

  test.each([undefined, null, 0, "", false])(
    "20. a thrown %j ends the run errored with a defined error",
    async (thrown) => {
      const workflow = defineWorkflow({ name: "w" }, async () => {
        throw thrown;
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      const status = await story.status("i");
      expect(status.status).toBe("errored");
      expect(status.error).toEqual(
        expect.objectContaining({ name: expect.any(String), message: expect.any(String) }),
      );
    },
  );

  test.each([
    ["a custom name", () => Object.assign(new Error("m"), { name: "CardError" }), "CardError"],
    ["NonRetryableError", () => new NonRetryableError("m"), "NonRetryableError"],
    ["NonRetryableError with a name", () => new NonRetryableError("m", "Declined"), "Declined"],
  ])("21. %s survives to the status", async (_title, error, name) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("a", { retries: false }, async () => {
        throw error();
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({ status: "errored", error: { name, message: "m" } });
  });

  test("22. output that violates its schema makes the run errored and leaves the output empty", async () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          typeof value === "number" ? { value } : { issues: [{ message: "must be a number" }] },
      },
    };
    const workflow = defineWorkflow({ name: "w", output: schema }, async () => "text");
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const status = await story.status("i");
    expect(status).toMatchObject({ status: "errored", error: { code: "WORKFLOW_OUTPUT_INVALID" } });
    expect(status).not.toHaveProperty("output");
  });

  test("23. a class whose run is not implemented gives an errored instance, not a crash", async () => {
    class Empty extends WorkflowEntrypoint {}
    const story = tell({ W: defineEntrypoint({ name: "w" }, Empty) });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.status("i")).status).toBe("errored");
  });

  test("24. a constructor that throws on resume gives one errored instance, and no crash loop", async () => {
    let broken = false;
    let constructed = 0;
    class Fragile extends WorkflowEntrypoint {
      constructor(ctx: unknown, env: unknown) {
        super(ctx as never, env as never);
        constructed++;
        if (broken) throw new Error("cannot be built");
      }
      override async run(_event: unknown, step: WorkflowStep): Promise<void> {
        await step.sleep("nap", "1 minute");
      }
    }
    const story = tell({ W: defineEntrypoint({ name: "w" }, Fragile) });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    broken = true;
    await story.restartRunner();
    await story.advance("10 minutes");
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { message: "cannot be built" },
    });
    expect(constructed).toBe(2);
  });

  test("25. a try/catch around waitForEvent does not see the suspension, only a real timeout", async () => {
    const caught: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      try {
        await step.waitForEvent("wait", { type: "never", timeout: "1 hour" });
      } catch (error) {
        caught.push((error as Error).name);
      }
      return "on";
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(caught).toEqual([]);
    await story.advance("1 hour");
    expect(caught).toEqual(["WaitForEventTimeoutError"]);
    expect((await story.status("i")).output).toBe("on");
  });

  test("26. finally blocks do not run when a passage suspends", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      try {
        await step.sleep("nap", "1 hour");
      } finally {
        ran.push("finally");
        await step.do("clean up", async () => ran.push("clean up"));
      }
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(ran).toEqual([]);
    await story.advance("1 hour");
    expect(ran).toEqual(["finally", "clean up"]);
  });

  test("27. mutating event.payload in one passage is not visible in the next (INV-18)", async () => {
    const seen: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      (event.payload.list as unknown[]).push("more");
      seen.push(event.payload.list.length);
      await step.sleep("nap", "1 hour");
      return event.payload.list.length;
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i", params: { list: ["a"] } });
    await story.advance("1 hour");
    expect(seen).toEqual([2, 2]);
  });

  test("28. event.timestamp is the creation time, equal across replays and restarts", async () => {
    const seen: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      seen.push(event.timestamp.getTime());
      await step.sleep("nap", "1 hour");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    const createdAt = story.clock.now().getTime();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("90 minutes");
    await instance.restart();
    await story.advance("90 minutes");
    expect(seen).toEqual([createdAt, createdAt, createdAt, createdAt]);
  });

  test("29. code that adds a step before a completed one still finishes, with old results reused by name", async () => {
    const { counts, count } = counter();
    let deployed = 1;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const added = deployed === 2 ? await step.do("added", async () => count("added")) : 0;
      const old = await step.do("old", async () => count("old"));
      await step.sleep("nap", "1 hour");
      return { added, old };
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    deployed = 2;
    await story.restartRunner();
    await story.advance("1 hour");
    expect(await story.status("i")).toEqual({ status: "complete", output: { added: 1, old: 1 } });
    expect(counts).toEqual({ old: 1, added: 1 });
  });

  test("30. more steps than the maximum end the run errored with STEP_LIMIT_EXCEEDED; sleeps are not counted", async () => {
    const workflow = defineWorkflow({ name: "w", limits: { maxSteps: 3 } }, async (event, step) => {
      for (let i = 0; i < event.payload.steps; i++) {
        await step.do(`step ${i}`, async () => i);
        await step.sleep(`nap ${i}`, 1);
      }
      return "done";
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "at-limit", params: { steps: 3 } });
    await story.workflows.W.create({ id: "over", params: { steps: 4 } });
    await story.advance("1 minute");
    expect(await story.status("at-limit")).toEqual({ status: "complete", output: "done" });
    expect(await story.status("over")).toMatchObject({
      status: "errored",
      error: { code: "STEP_LIMIT_EXCEEDED" },
    });
  });
});
