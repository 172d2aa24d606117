import { afterAll, describe, expect, test } from "vitest";
import type { Nudge } from "../../store/store.ts";
import { started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  create,
  leaseMs,
  never,
  pause,
  sendEvent,
  sleeping,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { readNudge } from "./server/nudges.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys, reopen } from "./test-support.ts";

describe("a message on the channel", () => {
  test.each<[string, Nudge | undefined]>([
    ["other d", { due: true, changed: false, ended: false }],
    ["other ce", { due: false, changed: true, ended: true }],
    ["self d", undefined],
    ["other", undefined],
    ["", undefined],
  ])("%j", (message, nudge) => {
    expect(readNudge(message, "self")).toEqual(nudge);
  });
});

describe.skipIf(redisUrl === undefined)("over a server", () => {
  let opening: Promise<RedisClient> | undefined;
  const client = (): Promise<RedisClient> => {
    opening ??= openClient();
    return opening;
  };
  afterAll(async () => {
    await removeTestKeys(await client());
    (await client()).disconnect();
  });

  test("a whole batch is one nudge", async () => {
    const { store, other, nudges } = await pair();
    await store.write(
      Array.from({ length: 20 }, (_unused, n) => create(`i${n}`)),
      at(0),
    );
    await write(store, create("last"), at(0));
    await until(() => nudges.length >= 2);
    expect(nudges).toHaveLength(2);
    await Promise.all([store.close(), other.close()]);
  });

  test("what nobody else can do anything about is no nudge", async () => {
    const { store, other, nudges } = await pair();
    await started(store, "leased at once", {}, at(0));
    await suspended(store, "asleep", [sleeping(1, never)], never);
    await store.write([create("exists")], at(0));
    await store.write([create("exists"), sendEvent("nobody", "e1", "x")], at(0));
    await write(store, pause("exists"), at(1));
    await until(() => nudges.some((nudge) => nudge.changed));
    expect(nudges.map(({ due, changed }) => [due, changed])).toEqual([
      [true, false],
      [false, true],
    ]);
    await Promise.all([store.close(), other.close()]);
  });

  test("a lease given back is told to others", async () => {
    const { store, other, nudges } = await pair();
    const { lease } = await started(store, "a", { lease: { owner: "r", until: at(leaseMs) } });
    await store.release([lease], at(1));
    await until(() => nudges.length > 0);
    expect(nudges).toEqual([{ due: true, changed: false, ended: false }]);
    await Promise.all([store.close(), other.close()]);
  });

  test("a listener whose connection breaks is told once, and hears again when it subscribes again", async () => {
    const { store, other, nudges, losses } = await pair();
    await killListener(other);
    await until(() => losses.length > 0);
    await write(store, create("unheard"));
    const again: Nudge[] = [];
    await other.subscribe({ onNudge: (nudge) => void again.push(nudge), onLost() {} });
    await write(store, create("heard"));
    await until(() => again.length > 0);
    expect([nudges.length, losses.length, again.length]).toEqual([0, 1, 1]);
    await Promise.all([store.close(), other.close()]);
  });

  test("who stops or closes is not told that the connection was lost", async () => {
    const { store, other, losses, stop } = await pair();
    stop();
    await other.subscribe({ onNudge() {}, onLost: (reason) => void losses.push(reason) });
    await Promise.all([store.close(), other.close()]);
    expect(losses).toEqual([]);
  });

  async function pair() {
    const store = openFresh();
    await store.migrate();
    const other = reopen(store);
    const nudges: Nudge[] = [];
    const losses: unknown[] = [];
    const stop = await other.subscribe({
      onNudge: (nudge) => void nudges.push(nudge),
      onLost: (reason) => void losses.push(reason),
    });
    return { store, other, nudges, losses, stop };
  }

  async function killListener(store: RedisStore): Promise<void> {
    const text = String(await (await client()).call("CLIENT", ["LIST"]));
    const line = text.split("\n").find((each) => each.includes(`name=everstep:${namespaceOf(store)}:nudges`));
    await (await client()).call("CLIENT", ["KILL", "ID", /\bid=(\d+)/.exec(line as string)?.[1] as string]);
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await (await client()).call("PING", []);
  }
});
