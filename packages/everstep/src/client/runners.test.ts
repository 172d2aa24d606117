import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { Store } from "../store/store.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime, type FakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createWorkflows } from "./create-workflows.ts";

const quick = defineWorkflow({ name: "quick" }, async () => "done");

/** Processes on one database and one clock. */
function world() {
  const clock = createFakeRuntime();
  const database = createMemoryDatabase();
  const process = (pid: number, around: (store: Store) => Store = (store) => store) => {
    const runtime: FakeRuntime = { ...clock, whereabouts: () => ({ host: "host-1", pid }) };
    return createWorkflows({ workflows: { quick }, store: around(memory({ database })), runtime });
  };
  return { clock, process };
}

test("every process sees all runners, and which of them is its own", async () => {
  const { clock, process } = world();
  const [one, two, caller] = [process(1), process(2), process(3)];
  await one.start();
  await clock.advance("10 seconds");
  await two.start();
  await clock.settle();
  const seen = async (app: typeof one) =>
    (await app.runners()).map(({ pid, state, isHere }) => ({ pid, state, isHere }));
  expect(await seen(one)).toEqual([
    { pid: 1, state: "running", isHere: true },
    { pid: 2, state: "running", isHere: false },
  ]);
  expect(await seen(caller)).toEqual([
    { pid: 2, state: "running", isHere: false },
    { pid: 1, state: "running", isHere: false },
  ]);
  const [own] = await one.runners();
  expect(own).toMatchObject({
    host: "host-1",
    startedAt: new Date(clock.now() - 10_000),
    seenAt: new Date(clock.now()),
    stoppedAt: null,
    concurrency: 256,
    turns: 0,
    workflows: ["quick"],
  });
  for (const app of [one, two, caller]) await app.stop();
});

test("a runner that stopped is shown so, one that is not heard of any more is silent", async () => {
  const { clock, process } = world();
  let isCut = false;
  const lost = process(1, (store) => {
    const faulty = createFaultyStore(store);
    faulty.plan((call) => (isCut && call.method === "beat" ? () => Promise.reject(new Error("cut")) : null));
    return faulty;
  });
  const [other, caller] = [process(2), process(3)];
  await lost.start();
  await other.start();
  await clock.settle();
  isCut = true;
  const stoppedAt = new Date(clock.now());
  await other.stop();
  const states = async () => (await caller.runners()).map(({ pid, state }) => `${pid} ${state}`).sort();
  await clock.advance("45 seconds");
  expect(await states()).toEqual(["1 running", "2 stopped"]);
  await clock.advance(1);
  expect(await states()).toEqual(["1 silent", "2 stopped"]);
  expect((await caller.runners()).find(({ pid }) => pid === 2)).toMatchObject({ stoppedAt });
  isCut = false;
  await clock.advance("1 minute");
  expect(await states()).toEqual(["1 running", "2 stopped"]);
  await lost.stop();
  await caller.stop();
});

test("on a store that keeps no runners only the one of this process is known, while it runs", async () => {
  const { clock, process } = world();
  const app = process(1, (store) => {
    const { beat, listRunners, readTallies, ...others } = createFaultyStore(store);
    return others;
  });
  expect(await app.runners()).toEqual([]);
  await app.start();
  await clock.settle();
  expect(await app.runners()).toMatchObject([{ pid: 1, isHere: true, state: "running" }]);
  await app.stop();
});
