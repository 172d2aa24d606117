import { expect, test } from "vitest";
import { encodeValue } from "../authoring/codec.ts";
import { planCreate } from "../engine/lifecycle.ts";
import { planSendEvent } from "../engine/plan-event.ts";
import { defaultLimits } from "../model/limits.ts";
import type { Store, StoreRequest } from "../store/store.ts";
import { memory } from "../stores/memory/index.ts";
import { createFaultyStore, type Fault, storeFailure } from "./faulty-store.ts";

const now = 1000;
const ref = (instanceId: string) => ({ workflowName: "order", instanceId });
const create = (id: string): StoreRequest => planCreate(ref(id), { params: encodeValue({}, "params") }, now);
const send = (id: string): StoreRequest =>
  planSendEvent(ref(id), { type: "paid" }, defaultLimits, `event ${id}`, now);
const exists = async (store: Store, id: string): Promise<boolean> =>
  (await store.getInstance(ref(id))) !== undefined;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("without a plan it is the store it wraps", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  expect(faulty.capabilities).toEqual(store.capabilities);
  expect(await faulty.migrate()).toEqual({ from: 0, to: 1, statements: [] });
  expect(await faulty.write([create("a"), send("a")], now)).toMatchObject([
    { kind: "created" },
    { kind: "accepted" },
  ]);
  expect(await exists(store, "a")).toBe(true);
  await faulty.close();
  await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

test("a call stopped before it is applied waits, and then says what the store answered", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  const stop = faulty.stopBefore("create");
  expect(stop.isReached).toBe(false);
  const writing = faulty.write([create("a")], now);
  await turn();
  expect(stop.isReached).toBe(true);
  expect((await stop.reached).requests).toMatchObject([{ kind: "create", instanceId: "a" }]);
  expect(await exists(store, "a")).toBe(false);
  await store.write([create("a")], now);
  expect(await stop.continue()).toBe("exists");
  expect(await writing).toMatchObject([{ kind: "exists" }]);
});

test("a call stopped after it was applied has taken effect, and its caller does not know yet", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  const stop = faulty.stopAfter("create");
  let answered = false;
  const writing = faulty.write([create("a")], now).then(() => {
    answered = true;
  });
  await stop.reached;
  await turn();
  expect([await exists(store, "a"), answered]).toEqual([true, false]);
  expect(await stop.continue()).toBe("created");
  await writing;
});

test.each(["stopBefore", "stopAfter"] as const)(
  "%s: a lost reply leaves the caller in doubt and the effect in place",
  async (place) => {
    const store = memory();
    const faulty = createFaultyStore(store);
    const stop = faulty[place]("create");
    const writing = faulty.write([create("a")], now);
    const heard = expect(writing).rejects.toMatchObject({ name: "StoreError", failure: "ambiguous" });
    await stop.reached;
    expect(await stop.loseReply()).toBe("created");
    await heard;
    expect(await exists(store, "a")).toBe(true);
  },
);

test("a call that is failed at its stop was applied exactly when it had passed the store", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  for (const [place, id, applied] of [
    ["stopBefore", "a", false],
    ["stopAfter", "b", true],
  ] as const) {
    const stop = faulty[place]("create");
    const heard = expect(faulty.write([create(id)], now)).rejects.toMatchObject({ failure: "unavailable" });
    await stop.reached;
    await stop.fail("unavailable");
    await heard;
    expect(await exists(store, id)).toBe(applied);
  }
});

test("only the next fitting call stops; others pass it", async () => {
  const faulty = createFaultyStore(memory());
  const where = (call: { requests: readonly StoreRequest[] }) =>
    call.requests.some((request) => request.kind === "create" && request.instanceId === "b");
  const stop = faulty.stopBefore("create", { where });
  await faulty.claim({ owner: "o", token: 1, workflows: [], limit: 1, now, leaseUntil: now });
  await faulty.write([create("a")], now);
  expect(stop.isReached).toBe(false);
  const writing = faulty.write([create("b")], now);
  await faulty.write([create("c")], now);
  expect(await stop.continue()).toBe("created");
  await writing;
});

test("a stop is told of a call in the moment it arrives", async () => {
  const faulty = createFaultyStore(memory());
  const seen: string[] = [];
  const stop = faulty.stopBefore("nextDueAt", { onReached: ({ method }) => seen.push(method) });
  const reading = faulty.nextDueAt(["order"]);
  expect(seen).toEqual(["nextDueAt"]);
  expect(await stop.continue()).toBe("done");
  expect(await reading).toBeNull();
});

test("a stop nobody came to says so instead of waiting for ever", async () => {
  const stop = createFaultyStore(memory()).stopBefore("commit");
  await expect(stop.continue()).rejects.toThrow('No "commit" has come to this stop');
});

test("a stop that was removed lets calls pass", async () => {
  const faulty = createFaultyStore(memory());
  const stop = faulty.stopBefore("create");
  stop.remove();
  expect(await faulty.write([create("a")], now)).toMatchObject([{ kind: "created" }]);
  expect(stop.isReached).toBe(false);
});

test("a call that the store itself refuses is told to both sides", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  const stop = faulty.stopBefore("create");
  const heard = expect(faulty.write([create("a")], now)).rejects.toMatchObject({ code: "STORE_CLOSED" });
  await stop.reached;
  await store.close();
  expect(await stop.continue()).toBe("failed");
  await heard;
});

test("calls fail as often as planned, applied or not", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  faulty.fail("create", "conflict", { times: 2 });
  for (const id of ["a", "b"]) {
    await expect(faulty.write([create(id)], now)).rejects.toMatchObject({
      failure: "conflict",
      retryable: true,
    });
    expect(await exists(store, id)).toBe(false);
  }
  await faulty.write([create("a")], now);
  faulty.fail("create", "ambiguous", { applied: true });
  await expect(faulty.write([create("c")], now)).rejects.toMatchObject({ failure: "ambiguous" });
  expect(await exists(store, "c")).toBe(true);
  faulty.fail("create", "fatal", { times: 0 });
  faulty.fail("create", "fatal", { times: Number.POSITIVE_INFINITY }).remove();
  expect(await faulty.write([create("c")], now)).toMatchObject([{ kind: "exists" }]);
});

test("any rule can be planned: the oldest with an opinion decides, and it may even repeat a call", async () => {
  const store = memory();
  const faulty = createFaultyStore(store);
  const applyTwice: Fault = (apply) => apply().then(apply);
  const twice = faulty.plan((call) => (call.verbs.includes("create") ? applyTwice : null));
  faulty.plan(() => () => Promise.reject(storeFailure("unavailable")));
  expect(await faulty.write([create("a")], now)).toMatchObject([{ kind: "exists" }]);
  await expect(faulty.nextDueAt([])).rejects.toMatchObject({ failure: "unavailable" });
  twice.remove();
  await expect(faulty.write([create("b")], now)).rejects.toMatchObject({ failure: "unavailable" });
});

test("calls are counted by method and by what they carry", async () => {
  const faulty = createFaultyStore(memory());
  await faulty.write([create("a"), create("b"), send("a")], now);
  await faulty.write([create("c")], now);
  expect((["write", "create", "sendEvent", "commit", "claim"] as const).map(faulty.count)).toEqual([
    2, 2, 1, 0, 0,
  ]);
});
