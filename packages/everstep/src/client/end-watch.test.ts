import { expect, test } from "vitest";
import { StoreError } from "../model/error.ts";
import type { InstanceRef, InstanceStatus } from "../model/instance.ts";
import { NudgeWatch } from "../runner/nudge-watch.ts";
import type { NudgeListener, Store } from "../store/store.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { EndWatch, type EndWatcher } from "./end-watch.ts";

function begin({ withNudges = false, withMark = false } = {}) {
  const runtime = createFakeRuntime();
  const ended = new Set<string>();
  const asked: number[] = [];
  let listener: NudgeListener | undefined;
  const subscribe = async (given: NudgeListener) => {
    listener = given;
    return () => {};
  };
  const store = (withNudges ? { subscribe } : {}) as unknown as Store;
  const nudges = new NudgeWatch({ store, runtime, onProblem: () => {} });
  const server = { isAway: false };
  const others = { writes: 0 };
  const statuses = {
    ...(withMark ? { changeMark: async () => others.writes } : {}),
    async getStatuses(refs: readonly InstanceRef[]): Promise<InstanceStatus[]> {
      asked.push(refs.length);
      if (server.isAway) throw new StoreError("unavailable", "STORE_UNAVAILABLE", "away");
      return refs.map(({ instanceId }) => (ended.has(instanceId) ? "complete" : "active"));
    },
  };
  const watch = new EndWatch({ store: statuses, runtime, nudges });
  const seen: string[] = [];
  const watching = (id: string, facts: Pick<EndWatcher, "isHere" | "isNew"> = {}) => {
    const stop = watch.watch({
      ...facts,
      ref: { workflowName: "w", instanceId: id },
      seen: (status) => {
        if (status !== "complete") return;
        seen.push(id);
        stop();
      },
      failed: () => seen.push(`${id} failed`),
    });
    return stop;
  };
  const nudge = () => listener?.onNudge({ due: false, changed: false, ended: true });
  return { runtime, server, others, ended, asked, seen, watching, nudge };
}

test("all who wait are answered by one question", async () => {
  const { runtime, asked, watching } = begin();
  for (let n = 0; n < 1200; n += 1) watching(`i${n}`);
  await runtime.settle();
  expect(asked).toEqual([500, 500, 200]);
});

test("an end is noticed within the interval, which grows to a second", async () => {
  const { runtime, ended, asked, seen, watching } = begin();
  watching("a");
  await runtime.advance("1 minute");
  expect(asked.length).toBeLessThan(70);
  ended.add("a");
  await runtime.advance("1 second");
  expect(seen).toEqual(["a"]);
});

test("with nudges it looks at each, many at once as one, and rarely without", async () => {
  const { runtime, ended, asked, seen, watching, nudge } = begin({ withNudges: true });
  watching("a");
  watching("b");
  await runtime.advance("2 minutes");
  expect(asked.length).toBeLessThan(25);
  const before = asked.length;
  ended.add("a");
  for (let n = 0; n < 10; n += 1) nudge();
  await runtime.advance(5);
  expect(asked.length).toBe(before + 1);
  expect(seen).toEqual(["a"]);
});

test("a nudge that comes as the last one stops waiting is not the last that is heard", async () => {
  const { runtime, ended, seen, watching, nudge } = begin({ withNudges: true });
  const stop = watching("a");
  await runtime.settle();
  nudge();
  stop();
  await runtime.settle();
  watching("b");
  await runtime.settle();
  ended.add("b");
  nudge();
  await runtime.advance(10);
  expect(seen).toEqual(["b"]);
});

test("who comes later is looked after alone, not with all the others", async () => {
  const { runtime, asked, watching } = begin({ withNudges: true });
  for (let n = 0; n < 400; n += 1) watching(`i${n}`);
  await runtime.settle();
  watching("late");
  await runtime.settle();
  expect(asked).toEqual([400, 1]);
});

test("a store that is out of reach is waited for, and asked ever less often", async () => {
  const { runtime, server, ended, asked, seen, watching } = begin();
  server.isAway = true;
  watching("a");
  await runtime.advance("5 minutes");
  expect(seen).toEqual([]);
  expect(asked.length).toBeLessThan(50);
  server.isAway = false;
  ended.add("a");
  await runtime.advance("17 seconds");
  expect(seen).toEqual(["a"]);
});

test("nobody waiting, nothing is asked and no timer is left", async () => {
  const { runtime, asked, watching } = begin();
  const stop = watching("a");
  await runtime.settle();
  stop();
  await runtime.advance("10 seconds");
  expect(runtime.nextTimerAt()).toBeNull();
  await runtime.advance("1 hour");
  expect(asked).toHaveLength(1);
});

test("those who wait already are looked after in time, however many others come", async () => {
  const { runtime, ended, seen, watching } = begin();
  watching("patient");
  await runtime.settle();
  ended.add("patient");
  for (let n = 0; n < 20; n += 1) {
    watching(`i${n}`);
    await runtime.advance(50);
  }
  expect(seen).toEqual(["patient"]);
});

test("one that was created this moment is not asked about at once, but like all others later", async () => {
  const { runtime, ended, asked, seen, watching } = begin();
  watching("new", { isNew: true });
  await runtime.settle();
  expect(asked).toEqual([]);
  ended.add("new");
  await runtime.advance(100);
  expect(seen).toEqual(["new"]);
});

test("one that runs here is not asked about until it does not any more", async () => {
  const { runtime, ended, asked, seen, watching } = begin();
  let isHere = true;
  watching("own", { isHere: () => isHere });
  await runtime.advance("1 minute");
  expect(asked).toEqual([]);
  isHere = false;
  ended.add("own");
  await runtime.advance("1 second");
  expect(seen).toEqual(["own"]);
});

test("while no other process writes it asks once a second, and at once when one does", async () => {
  const { runtime, others, ended, asked, seen, watching } = begin({ withMark: true });
  watching("a");
  await runtime.advance(950);
  expect(asked.length).toBe(2);
  await runtime.advance("10 seconds");
  expect(asked.length).toBeLessThan(14);
  others.writes += 1;
  ended.add("a");
  await runtime.advance("1 second");
  expect(seen).toEqual(["a"]);
});

test("where nudges arrive newcomers do not make it look after all the others again and again", async () => {
  const { runtime, asked, watching } = begin({ withNudges: true });
  for (let n = 0; n < 100; n += 1) watching(`i${n}`);
  await runtime.advance("30 seconds");
  asked.length = 0;
  for (let n = 0; n < 50; n += 1) {
    watching(`late ${n}`);
    await runtime.advance(50);
  }
  expect(asked.filter((count) => count > 1).length).toBeLessThan(2);
});
