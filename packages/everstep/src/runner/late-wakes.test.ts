import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { RunnerSettings } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";

/** Instances that give up after 30 days, and go on as soon as a computation outside of any step is through. */
function begin() {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase();
  const gate = createGate();
  const problems: unknown[] = [];
  let computations = 0;
  const busy = defineWorkflow({ name: "busy" }, async (_, step) => {
    const compute = async () => {
      computations++;
      await gate.wait();
      return step.do("go on", async () => "went on");
    };
    return Promise.race([step.sleep("give up", "30 days").then(() => "gave up"), compute()]);
  });
  const process = (runner: RunnerSettings = {}) => {
    const store = createFaultyStore(memory({ database }));
    const onProblem = (problem: unknown): void => void problems.push(problem);
    const app = createWorkflows({ workflows: { busy }, store, runtime, runner, onProblem });
    return { app, store };
  };
  const look = (id: string) => memory({ database }).getInstance({ workflowName: "busy", instanceId: id });
  return { runtime, gate, problems, process, look, computations: () => computations };
}

const soon = "5 seconds";

describe("author code that goes on beside a wait, outside of any step", () => {
  test.each([
    ["there is no room for suspended turns", 0, 3],
    ["its turn had to make room for others", 2, 20],
    ["its turn is still in memory", 1000, 3],
  ])("is heard and goes on where it was when %s", async (_, maxResidents, count) => {
    const { runtime, gate, process, look, computations } = begin();
    const { app } = process({ maxResidents });
    await app.start();
    const ids = Array.from({ length: count }, (_, at) => `${at}`);
    await app.workflows.busy.createBatch(ids.map((id) => ({ id })));
    await runtime.advance(soon);
    for (const id of ids) expect(await look(id)).toMatchObject({ status: "waiting", executing: false });
    await gate.open();
    await runtime.advance(soon);
    for (const id of ids) expect(await look(id)).toMatchObject({ status: "complete", crashCount: 0 });
    expect(computations()).toBe(count);
    await app.stop();
  });

  test("is heard although the store is out of reach when it speaks, for longer than any call is repeated", async () => {
    const { runtime, gate, process, look, computations } = begin();
    const { app, store } = process({ maxResidents: 0 });
    await app.start();
    await app.workflows.busy.create({ id: "1" });
    await runtime.advance(soon);
    const outage = store.fail("wake", "unavailable", { times: 1000 });
    await gate.open();
    await runtime.advance("10 minutes");
    expect(await look("1")).toMatchObject({ status: "waiting" });
    outage.remove();
    await runtime.advance("1 minute");
    expect(await look("1")).toMatchObject({ status: "complete" });
    expect(computations()).toBe(1);
    await app.stop();
  });

  test.each([
    ["its turn is in memory", 1000],
    ["its turn was dropped", 0],
  ])("begins again elsewhere when its process stops and %s", async (_, maxResidents) => {
    const { runtime, gate, problems, process, look, computations } = begin();
    const first = process({ maxResidents });
    await first.app.start();
    await first.app.workflows.busy.create({ id: "1" });
    await runtime.advance(soon);
    await first.app.stop();
    expect(await look("1")).toMatchObject({ executing: false, dueAt: runtime.now() });
    const second = process();
    await second.app.start();
    await runtime.advance(soon);
    expect(computations()).toBe(2);
    await gate.open();
    await runtime.advance(soon);
    expect(await look("1")).toMatchObject({ status: "complete", crashCount: 0 });
    // What the first computation asks for after the stop is nobody's problem.
    expect(problems).toEqual([]);
    await second.app.stop();
  });

  test("that has said nothing for as long as code may be silent is not begun again by every stop", async () => {
    const { runtime, process, look } = begin();
    const { app } = process();
    await app.start();
    await app.workflows.busy.create({ id: "1" });
    await runtime.advance("11 minutes");
    await app.stop();
    expect((await look("1"))?.dueAt).toBeGreaterThan(runtime.now());
  });

  test("has the run replayed once by hosts that only tick, not with every tick", async () => {
    const { runtime, process, look, computations } = begin();
    for (let at = 0; at < 5; at++) {
      const { app } = process();
      if (at === 0) await app.workflows.busy.create({ id: "1" });
      await app.tick();
      await app.stop();
      await runtime.advance("1 minute");
    }
    expect(computations()).toBe(2);
    expect((await look("1"))?.dueAt).toBeGreaterThan(runtime.now());
  });
});
