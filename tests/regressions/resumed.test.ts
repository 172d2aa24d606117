/** Paused and resumed beside a body that runs for long: everything else goes on as if it had only been held up. */
import { defineWorkflow, type WorkflowStep } from "everstep";
import { createGate } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

type Branch = (step: WorkflowStep, did: (what: string) => void) => Promise<unknown>;

const branches: Record<string, Branch> = {
  "a sleep": async (step, did) => {
    await step.sleep("nap", "1 minute");
    did("slept");
    await step.do("next", async () => did("next"));
  },
  "a sleep inside of another step": (step, did) =>
    step.do("outer", { timeout: "1 day" }, async () => {
      did("outer");
      await step.sleep("nap", "1 minute");
      did("slept");
      await step.do("inner", async () => did("inner"));
    }),
  "a retry": (step, did) =>
    step.do("flaky", { retries: { limit: 1, delay: "1 minute" } }, async ({ attempt }) => {
      did(`attempt ${attempt}`);
      if (attempt === 1) throw new Error("down");
    }),
  "an event": async (step, did) => {
    const { payload } = await step.waitForEvent<string>("word", { type: "word", timeout: "1 day" });
    did(payload);
    await step.do("next", async () => did("next"));
  },
};

const ends: Record<string, readonly string[]> = {
  "a sleep": ["slept", "next"],
  "a sleep inside of another step": ["outer", "slept", "inner"],
  "a retry": ["attempt 1", "attempt 2"],
  "an event": ["hello", "next"],
};
const begins: Record<string, readonly string[]> = {
  "a sleep inside of another step": ["outer"],
  "a retry": ["attempt 1"],
};

onEachStore("resumed beside a body", (tell) => {
  const begin = async (branch: Branch) => {
    const gate = createGate();
    const seen: string[] = [];
    const starts: number[] = [];
    const long = defineWorkflow({ name: "long" }, async (_event, step) => {
      await Promise.all([
        step.do("long", { timeout: "1 day" }, async ({ attempt }) => {
          starts.push(attempt);
          await gate.wait();
        }),
        branch(step, (what) => void seen.push(what)),
      ]);
    });
    const story = tell({ LONG: long }, { onNotice: () => {} });
    const here = await story.workflows.LONG.create({ id: "i" });
    await story.tick();
    const elsewhere = await story.runner("other").workflows.LONG.get("i");
    const finish = async (): Promise<void> => {
      expect(gate.arrivals).toBe(1);
      await gate.open();
      await story.runUntilIdle();
      expect(await here.status()).toMatchObject({ status: "complete" });
      expect(starts).toEqual([1]);
    };
    return { story, here, elsewhere, seen, finish };
  };

  describe.each(["this process", "another process"])("by %s", (who) => {
    test.each(Object.keys(branches))("%s goes on", async (what) => {
      const { story, here, elsewhere, seen, finish } = await begin(branches[what] as Branch);
      const person = who === "this process" ? here : elsewhere;
      await person.pause();
      // Long enough that a renewal tells of the pause.
      await story.clock.advance("20 seconds");
      await person.sendEvent({ type: "word", payload: "hello" });
      await story.clock.advance("1 minute");
      expect(seen).toEqual(begins[what] ?? []);
      await person.resume();
      await story.clock.advance(who === "this process" ? 0 : "20 seconds");
      expect(seen).toEqual(ends[what]);
      await finish();
    });

    test("paused again, nothing begins; resumed again, it does", async () => {
      const { story, here, elsewhere, seen, finish } = await begin(branches["a sleep"] as Branch);
      const person = who === "this process" ? here : elsewhere;
      await person.pause();
      await story.clock.advance("20 seconds");
      await person.resume();
      await person.pause();
      await story.clock.advance("2 minutes");
      expect(seen).not.toContain("next");
      await person.resume();
      await story.clock.advance("20 seconds");
      expect(seen).toEqual(["slept", "next"]);
      await finish();
    });
  });

  test("an event that comes after the resume is taken at once", async () => {
    const { story, here, seen, finish } = await begin(branches["an event"] as Branch);
    await here.pause();
    await story.clock.advance("20 seconds");
    await here.resume();
    await here.sendEvent({ type: "word", payload: "hello" });
    await story.settle();
    expect(seen).toEqual(["hello", "next"]);
    await finish();
  });

  test("results of the pause are handed over once, in the order that is recorded and replayed", async () => {
    const gates = ["a", "b", "c"].map((name) => ({ name, gate: createGate() }));
    const long = createGate();
    let seen: string[] = [];
    const racing = defineWorkflow({ name: "racing" }, async (_event, step) => {
      const quick = gates.map(async ({ name, gate }) => {
        await step.do(name, () => gate.wait());
        seen.push(name);
        return name;
      });
      const last = step.do("long", { timeout: "1 day" }, () => long.wait());
      const first = await Promise.race(quick);
      await Promise.all([...quick, step.do(`after ${first}`, async () => {}), last]);
      return first;
    });
    const story = tell({ RACING: racing });
    const instance = await story.workflows.RACING.create({ id: "i" });
    await story.tick();
    await instance.pause();
    await story.clock.advance("20 seconds");
    for (const at of [1, 2, 0]) await gates[at]?.gate.open();
    expect(seen).toEqual([]);
    await instance.resume();
    await story.settle();
    expect(seen).toEqual(["b", "c", "a"]);
    story.runner("main").kill();
    seen = [];
    await long.open();
    await story.clock.advance("1 minute");
    await story.restartRunner("main");
    await story.clock.advance("1 minute");
    await story.runUntilIdle();
    expect(seen).toEqual(["b", "c", "a"]);
    expect(await story.status("i")).toEqual({ status: "complete", output: "b" });
  });

  test("terminated after the resume, nothing more is handed over", async () => {
    const { story, here, elsewhere, seen } = await begin(branches["a sleep"] as Branch);
    await here.pause();
    await story.clock.advance("20 seconds");
    await here.resume();
    await elsewhere.terminate();
    await story.clock.advance("2 minutes");
    expect(seen).not.toContain("next");
    expect(await story.status("i")).toMatchObject({ status: "terminated" });
  });
});
