import { expect, test } from "vitest";
import { StoreError } from "../../../model/error.ts";
import type { SendEventOutcome, StoreOutcome, StoreRequest } from "../../../store/store.ts";
import { at, create, pause, sendEvent } from "../../../testing/store-contract/given.ts";
import type { Database } from "../session.ts";
import { type SendQuickly, sendsFirst } from "./quick-send.ts";
import type { Written } from "./write.ts";

const accepted: SendEventOutcome = {
  kind: "accepted",
  runId: 1,
  status: "waiting",
  duplicate: false,
  woke: true,
};
const notFound: StoreOutcome = { kind: "not-found" };
const quiet = { due: false, changed: false, ended: false };

/** What went which way, in order. `takes` says which events the quick way accepts. */
function ways(takes: (id: string) => boolean, fails?: StoreError) {
  const seen: string[] = [];
  const named = (requests: readonly StoreRequest[]): string =>
    requests.map((each) => ("id" in each ? each.id : "instanceId" in each ? each.instanceId : "")).join(" ");
  const send: SendQuickly = async (_database, requests) => {
    seen.push(`quick: ${named(requests)}`);
    if (fails !== undefined) throw fails;
    return requests.map(({ id }) => (takes(id) ? accepted : null));
  };
  const long = async (requests: readonly StoreRequest[]): Promise<Written> => {
    seen.push(`long: ${named(requests)}`);
    return { outcomes: requests.map(() => notFound), news: quiet };
  };
  return { seen, long, write: sendsFirst(send, {} as Database, long), send };
}

const every = (): boolean => true;

test("events for instances of their own go the quick way, and others are told", async () => {
  const { seen, write } = ways(every);
  const written = await write([sendEvent("a", "e1", "x"), sendEvent("b", "e2", "x")], at(0));
  expect(written).toEqual({ outcomes: [accepted, accepted], news: { ...quiet, due: true } });
  expect(seen).toEqual(["quick: e1 e2"]);
});

test("an event that is left alone goes the long way, and answers stay in order", async () => {
  const { seen, write } = ways((id) => id !== "e2");
  const requests = ["e1", "e2", "e3"].map((id) => sendEvent(`of ${id}`, id, "x"));
  expect((await write(requests, at(0))).outcomes).toEqual([accepted, notFound, accepted]);
  expect(seen).toEqual(["quick: e1 e2 e3", "long: e2"]);
});

test("where none is accepted nobody is told, unless the long way says so", async () => {
  const { seen, write } = ways(() => false);
  const written = await write([sendEvent("a", "e1", "x")], at(0));
  expect(written).toEqual({ outcomes: [notFound], news: quiet });
  expect(seen).toEqual(["quick: e1", "long: e1"]);
});

test("two events for one instance, or under one id, go the long way together", async () => {
  for (const second of [sendEvent("a", "e2", "x"), sendEvent("b", "e1", "x")]) {
    const { seen, write } = ways(every);
    await write([sendEvent("a", "e1", "x"), second], at(0));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatch(/^long/);
  }
});

test("events before or behind the rest of a batch keep their place", async () => {
  const before = ways(every);
  const first = await before.write([sendEvent("a", "e1", "x"), create("new")], at(0));
  expect(before.seen).toEqual(["quick: e1", "long: new"]);
  expect(first.outcomes).toEqual([accepted, notFound]);
  const behind = ways(every);
  const second = await behind.write([create("new"), sendEvent("a", "e1", "x")], at(0));
  expect(behind.seen).toEqual(["long: new", "quick: e1"]);
  expect(second.outcomes).toEqual([notFound, accepted]);
  expect(second.news.due).toBe(true);
});

test("what is mixed any further, and what has no events, is applied as a whole", async () => {
  const { seen, write } = ways(every);
  await write([sendEvent("a", "e1", "x"), create("new"), sendEvent("b", "e2", "x")], at(0));
  await write([create("one"), create("two")], at(0));
  await write([], at(0));
  expect(seen).toEqual(["long: e1 new e2", "long: one two", "long: "]);
});

test.each(["conflict", "constraint"] as const)(
  "one who is in somebody's way (%s) takes turns",
  async (failure) => {
    const { seen, write } = ways(every, new StoreError(failure, "STORE_BUSY", "busy"));
    await write([sendEvent("a", "e1", "x")], at(0));
    expect(seen).toEqual(["quick: e1", "long: e1"]);
  },
);

test("one who has waited long enough, and any other failure, is told so", async () => {
  for (const error of [
    new StoreError("conflict", "STORE_BUSY", "busy", { details: { waited: true } }),
    new StoreError("unavailable", "STORE_UNAVAILABLE", "gone"),
  ]) {
    const { seen, write } = ways(every, error);
    await expect(write([sendEvent("a", "e1", "x")], at(0))).rejects.toBe(error);
    expect(seen).toEqual(["quick: e1"]);
  }
});

test("a failure behind a part that was applied leaves the whole open", async () => {
  const { send } = ways((id) => id === "e1");
  const write = sendsFirst(send, {} as Database, async () => {
    throw new StoreError("unavailable", "STORE_UNAVAILABLE", "gone");
  });
  const part = write([sendEvent("a", "e1", "x"), sendEvent("b", "e2", "x")], at(0));
  await expect(part).rejects.toMatchObject({ failure: "ambiguous" });
  const rest = write([sendEvent("a", "e1", "x"), pause("b")], at(0));
  await expect(rest).rejects.toMatchObject({ failure: "ambiguous" });
});
