import { describe, expect, test } from "vitest";
import { decodeValue } from "../authoring/codec.ts";
import { defineWorkflow, type WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { WorkflowStep } from "../authoring/workflow-step.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import type { StepRecord } from "../model/step.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore, storeFailure } from "../testing/faulty-store.ts";

/** A process that can be killed: afterwards its store never answers and none of its code counts any more. */
class Life {
  readonly started: string[] = [];
  isDead = false;

  /** A body as a real process would run it: once the process is dead, it does not come to its end. */
  async body<Value>(name: string, value: Value, turns = 0): Promise<Value> {
    this.started.push(name);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    return this.isDead ? new Promise(() => {}) : value;
  }
}

type Program = (step: WorkflowStep, life: () => Life) => Promise<unknown>;

const programs: Record<string, { readonly run: Program; readonly output: (output: unknown) => boolean }> = {
  "three steps and a sleep": {
    run: async (step, life) => {
      const a = await step.do("a", () => life().body("a", 1));
      const b = await step.do("b", () => life().body("b", 2));
      await step.sleep("nap", "1 minute");
      const c = await step.do("c", () => life().body("c", 3));
      return a + b + c;
    },
    output: (output) => output === 6,
  },
  "a race and what came of it": {
    run: async (step, life) => {
      const winner = await Promise.race([
        step.do("slow", () => life().body("slow", "slow", 3)),
        step.do("quick", () => life().body("quick", "quick", 1)),
        step.sleep("nap", "1 minute").then(() => "nap"),
      ]);
      const seen = await step.do("winner", () => life().body("winner", winner));
      await step.sleep("rest", "1 minute");
      return [winner, seen];
    },
    // Whoever won: the step that recorded it and the function agree.
    output: (output) => Array.isArray(output) && output[0] === output[1],
  },
  "five at once, then an event": {
    run: async (step, life) => {
      const all = await Promise.all(
        [0, 1, 2, 3, 4].map((n) => step.do(`s${n}`, () => life().body(`s${n}`, n, n % 3))),
      );
      const { payload } = await step.waitForEvent("go", { type: "go", timeout: "1 day" });
      return [...all, payload];
    },
    output: (output) => JSON.stringify(output) === "[0,1,2,3,4,7]",
  },
  "steps inside a step": {
    run: async (step, life) =>
      step.do("outer", async () => {
        const a = await step.do("in a", () => life().body("outer/in a", 1));
        await step.sleep("nap", "1 second");
        const b = await step.do("in b", () => life().body("outer/in b", 2));
        return life().body("outer", a + b);
      }),
    output: (output) => output === 3,
  },
  "a retry": {
    run: async (step, life) =>
      step.do("flaky", { retries: { limit: 3, delay: "1 second" } }, async ({ attempt }) => {
        const value = await life().body("flaky", attempt);
        if (attempt === 1) throw new Error("down");
        return value > 1;
      }),
    output: (output) => output === true,
  },
};

interface Death {
  /** The call of the store at which the process dies, counted from its start; none when it is too far. */
  readonly at: number;
  /** Whether the store still applies that call. */
  readonly applied: boolean;
}

async function tell(program: Program, death: Death) {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const lives: Life[] = [];
  let current = new Life();
  const workflow: WorkflowDefinition = defineWorkflow({ name: "story" }, (_, step) =>
    program(step, () => current),
  );
  const begin = (around: (store: ReturnType<typeof createFaultyStore>, life: Life) => void) => {
    const life = new Life();
    lives.push(life);
    current = life;
    const store = createFaultyStore(memory({ database }));
    const app = createWorkflows({ workflows: { story: workflow }, store, runtime, onProblem: () => {} });
    around(store, life);
    return { app, life };
  };

  let calls = 0;
  const first = begin((store, life) => {
    store.plan((call) => {
      if (life.isDead) return () => new Promise(() => {});
      if (call.method === "migrate" || calls++ !== death.at) return null;
      life.isDead = true;
      return async (apply) => {
        if (death.applied) await apply();
        return new Promise(() => {});
      };
    });
  });
  await first.app.start();
  await runtime.settle();
  void first.app.workflows.story.create({ id: "1" });
  await runtime.settle();
  if (!first.life.isDead) await runtime.advance("30 seconds");
  const died = first.life.isDead;
  first.life.isDead = true;

  const known = recordsOf();
  const secondLife = begin(() => {});
  await secondLife.app.start();
  const instance = await secondLife.app.workflows.story.create({ id: "1", ifExists: "return" });
  // The lease of the dead one, its waits, and the delays after a crash.
  await runtime.advance("3 minutes");
  await instance.sendEvent({ type: "go", payload: 7 }).catch(() => {});
  await runtime.advance("2 minutes");
  return {
    died,
    known,
    records: recordsOf(),
    startedAfterwards: secondLife.life.started,
    result: await instance.status(),
  };

  function recordsOf(): readonly StepRecord[] {
    const run = database.find({ workflowName: "story", instanceId: "1" })?.runs[0];
    return [...(run?.steps.values() ?? [])];
  }
}

function settledOf(records: readonly StepRecord[]) {
  return records.flatMap((step) => (step.status === "waiting" ? [] : [step]));
}

describe("a process killed at any call of the store", () => {
  test.each(
    Object.entries(programs).flatMap(([name, { run, output }]) =>
      [true, false].map((applied) => ({ name, run, output, applied, place: applied ? "after" : "before" })),
    ),
  )(
    "$name, killed $place it was applied: another goes on, nothing known is lost or done again",
    async (story) => {
      for (let at = 0; ; at++) {
        const told = await tell(story.run, { at, applied: story.applied });
        const where = `killed at call ${at}`;
        expect([where, told.result.status]).toEqual([where, "complete"]);
        expect([where, story.output(told.result.output)]).toEqual([where, true]);
        // Completed means never again, and its bytes never change.
        const settled = settledOf(told.known);
        const again = told.startedAfterwards.filter((name) => settled.some(({ key }) => key === name));
        expect([where, again]).toEqual([where, []]);
        for (const step of settled) expect(told.records).toContainEqual(step);
        expectTheSameWinner(told);
        if (!told.died) break;
        expect(at).toBeLessThan(100);
      }
    },
  );

  function expectTheSameWinner(told: Awaited<ReturnType<typeof tell>>): void {
    const racers = ["slow", "quick", "nap"];
    const [first] = settledOf(told.known)
      .filter(({ key }) => racers.includes(key))
      .sort((a, b) => a.settledIndex - b.settledIndex);
    const output = told.result.output as unknown;
    if (!first || !Array.isArray(output) || !racers.includes(output[0])) return;
    expect(output[0]).toBe(first.key);
  }
});

describe("a run that kills its process every time", () => {
  test("is given up after ten crashes in a row, as a dead letter, and can be restarted", async () => {
    const runtime = createFakeRuntime();
    const database = createMemoryDatabase();
    let kills = true;
    let life: { isDead: boolean } = { isDead: false };
    let starts = 0;
    const poison = defineWorkflow({ name: "poison" }, async (_, step) =>
      step.do("kills", async () => {
        starts++;
        if (!kills) return "survived";
        life.isDead = true;
        return new Promise<string>(() => {});
      }),
    );
    const begin = () => {
      const own = { isDead: false };
      life = own;
      const store = createFaultyStore(memory({ database }));
      store.plan(() => (own.isDead ? () => new Promise(() => {}) : null));
      return createWorkflows({ workflows: { poison }, store, runtime, onProblem: () => {} });
    };
    await begin().workflows.poison.create({ id: "1" });
    for (let processes = 0; processes < 12; processes++) {
      await begin().start();
      // A lease, and the longest delay.
      await runtime.advance("6 minutes");
    }
    const app = begin();
    const instance = await app.workflows.poison.get("1");
    expect(await instance.status()).toMatchObject({ status: "errored", error: { code: "CRASH_LOOP" } });
    expect((await app.workflows.poison.list({ deadLetter: true })).items).toHaveLength(1);
    expect(starts).toBe(10);
    kills = false;
    await app.start();
    await instance.restart();
    await runtime.settle();
    expect(await instance.status()).toEqual({ status: "complete", output: "survived" });
  });

  test("a step that must not be repeated is not", async () => {
    const runtime = createFakeRuntime();
    const database = createMemoryDatabase();
    let life = { isDead: false };
    let paid = 0;
    const pay = defineWorkflow({ name: "pay" }, async (_, step) =>
      step.do("pay", { ifInterrupted: "fail" }, async () => {
        paid++;
        life.isDead = true;
        return new Promise<never>(() => {});
      }),
    );
    const begin = () => {
      const own = { isDead: false };
      life = own;
      const store = createFaultyStore(memory({ database }));
      store.plan(() => (own.isDead ? () => new Promise(() => {}) : null));
      return createWorkflows({ workflows: { pay }, store, runtime, onProblem: () => {} });
    };
    const first = begin();
    await first.start();
    await runtime.settle();
    void first.workflows.pay.create({ id: "1" });
    await runtime.settle();
    expect(paid).toBe(1);
    const next = begin();
    await next.start();
    await runtime.advance("2 minutes");
    expect(await (await next.workflows.pay.get("1")).status()).toMatchObject({
      status: "errored",
      error: { code: "STEP_INTERRUPTED" },
    });
    expect(paid).toBe(1);
  });
});

describe("a store that fails for a while", () => {
  test.each(["conflict", "unavailable", "ambiguous"] as const)(
    "%s: nothing is lost, nothing counts as an attempt, and the run completes",
    async (failure) => {
      const runtime = createFakeRuntime();
      const database = createMemoryDatabase();
      const store = createFaultyStore(memory({ database }));
      let runs = 0;
      const workflow = defineWorkflow({ name: "story" }, async (_, step) => {
        for (const name of ["a", "b", "c"]) await step.do(name, async () => ++runs);
      });
      const app = createWorkflows({ workflows: { workflow }, store, runtime, onProblem: () => {} });
      await app.start();
      await runtime.settle();
      let calls = 0;
      // Every second write fails; an ambiguous one was applied all the same.
      store.plan((call) => {
        if (call.method !== "write" || calls++ % 2 === 0) return null;
        return async (apply) => {
          if (failure === "ambiguous") await apply();
          throw storeFailure(failure);
        };
      });
      const creating = app.workflows.workflow.create({ id: "1", ifExists: "return" });
      await runtime.advance("5 minutes");
      const instance = await creating;
      expect(await instance.status()).toMatchObject({ status: "complete" });
      expect(runs).toBe(3);
      const { steps } = await instance.history();
      expect(steps.map(({ attempts, errors }) => [attempts, errors.length])).toEqual(Array(3).fill([1, 0]));
    },
  );

  test("a run whose history could not be read is given back at once, not after its lease", async () => {
    const runtime = createFakeRuntime();
    const store = createFaultyStore(memory());
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => step.sleep("nap", "1 minute"));
    const app = createWorkflows({
      workflows: { nap },
      store,
      runtime,
      runner: { maxResidents: 0 },
      onProblem: () => {},
    });
    await app.start();
    const instance = await app.workflows.nap.create();
    await runtime.settle();
    store.fail("readRuns", "unavailable");
    await runtime.advance("1 minute");
    expect(await instance.details()).toMatchObject({ executing: false });
    await runtime.advance("30 seconds");
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("a run whose history the store left out is not begun from the beginning", async () => {
    const runtime = createFakeRuntime();
    const store = createFaultyStore(memory());
    let runs = 0;
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      await step.do("once", async () => ++runs);
      await step.sleep("nap", "1 minute");
    });
    const app = createWorkflows({ workflows: { nap }, store, runtime, runner: { maxResidents: 0 } });
    const instance = await app.workflows.nap.create();
    await app.tick();
    await runtime.advance("1 minute");
    const forgetful = store.plan((call) => (call.method === "readRuns" ? async () => [] : null));
    expect(await app.tick()).toEqual({ processed: 0 });
    expect(await instance.details()).toMatchObject({ executing: false });
    forgetful.remove();
    await app.tick();
    expect(await instance.status()).toMatchObject({ status: "complete" });
    expect(runs).toBe(1);
  });

  test("claims and reads that fail are tried again, and their runs are not counted as crashed", async () => {
    const runtime = createFakeRuntime();
    const database = createMemoryDatabase();
    const store = createFaultyStore(memory({ database }));
    const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
      await step.sleep("nap", "1 minute");
      return "rested";
    });
    const problems: unknown[] = [];
    const app = createWorkflows({
      workflows: { nap },
      store,
      runtime,
      runner: { maxResidents: 0 },
      onProblem: (problem) => problems.push(problem),
    });
    await app.start();
    const instance = await app.workflows.nap.create();
    await runtime.settle();
    store.fail("claim", "unavailable", { times: 3 });
    store.fail("readRuns", "unavailable", { times: 2 });
    await runtime.advance("3 minutes");
    expect(await instance.status()).toEqual({ status: "complete", output: "rested" });
    expect(problems).toHaveLength(5);
    const run = database.find({ workflowName: "nap", instanceId: instance.id })?.runs[0];
    expect(run?.row.crashCount).toBe(0);
    const ending = run?.ending?.ending;
    expect(ending?.kind === "complete" && decodeValue(ending.output)).toBe("rested");
  });
});
