import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Lease } from "../../model/lease.ts";
import type { Mutation, Mutations } from "../../model/mutations.ts";
import type { CommitOutcome } from "../../store/store.ts";
import { claimOne, started, stepsOf } from "../../testing/store-contract/acts.ts";
import { at, boundary, commit, completed, leaseMs } from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import { KeyTaken } from "./index.ts";
import type { RedisStore } from "./redis-store.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";
import { type RedisCommands, recordCommands } from "./write/mutations.ts";

describe("the handle", () => {
  test("records commands in order, chained or not, with texts and numbers", () => {
    const { commands, recorded } = recordCommands("shop");
    commands.set("a", 1).hset("b", "c", "d").call("JSON.SET", "e", "$", "{}");
    commands.sadd("f", ["g", "h"]);
    commands.insert("i", 10n);
    expect(recorded.map(({ words, isInsert }) => [words.join(" "), isInsert])).toEqual([
      ["set a 1", false],
      ["hset b c d", false],
      ["JSON.SET e $ {}", false],
      ["sadd f g h", false],
      ["SET i 10 NX", true],
    ]);
  });

  test("gives keys that lie beside the store's own on a cluster", () => {
    expect(recordCommands("shop").commands.key("order:1")).toBe("{shop}/order:1");
  });

  test.each([[null], [undefined], [{}], [true]])(
    "refuses %s as an argument, and says what to do",
    (value) => {
      const { commands } = recordCommands("shop");
      expect(() => commands.set("a", value)).toThrow(expect.objectContaining({ code: "MUTATION_INVALID" }));
    },
  );

  test("refuses more arguments than a script can hand over, and commands that come too late", () => {
    const { commands, close } = recordCommands("shop");
    const many = Array.from({ length: 8000 }, (_unused, n) => n);
    expect(() => commands.sadd("a", many)).toThrow(expect.objectContaining({ code: "MUTATION_INVALID" }));
    close();
    expect(() => commands.set("a", "b")).toThrow(expect.objectContaining({ code: "MUTATION_INVALID" }));
  });

  test("may be returned or awaited", async () => {
    const { commands } = recordCommands("shop");
    expect(await commands).toBe(commands);
  });
});

describe.skipIf(redisUrl === undefined)("an author's commands", () => {
  let client: RedisClient;
  let store: RedisStore;
  let lease: Lease;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(async () => {
    store = openFresh();
    await store.migrate();
    lease = (await started(store, "a")).lease;
  });
  afterEach(() => store.close());

  test("are run with the step, service calls first, whatever their types", async () => {
    const outcome = await commitWith({
      serviceCalls: [(db: RedisCommands) => db.set(key("order"), "new"), async (db) => db.incr(key("count"))],
      mutate: [
        (db: RedisCommands) => db.append(key("order"), ", paid").rpush(key("log"), "a", "b"),
        (db: RedisCommands) => db.call("ZADD", key("by age"), 5, "x").hset(key("facts"), "n", 1),
      ],
    });
    expect(outcome.kind).toBe("committed");
    expect(await ask("GET", key("order"))).toBe("new, paid");
    expect(await ask("GET", key("count"))).toBe("1");
    expect(await ask("LRANGE", key("log"), "0", "-1")).toEqual(["a", "b"]);
    expect(await ask("ZSCORE", key("by age"), "x")).toBe("5");
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
  });

  test("keep every byte of a text", async () => {
    const text = "nul \u0000 line\r\nbreak 😀 $1 \\";
    await mutate((db) => db.set(key(text), text));
    expect(await ask("GET", key(text))).toBe(text);
  });

  test("are a conflict when a key that must be new is there: nothing is applied, not even commands before it", async () => {
    await ask("SET", key("taken"), "first");
    const outcome = await mutate((db) => db.set(key("other"), "x").insert(key("taken"), "second"));
    expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true, error: { key: key("taken") } });
    expect((outcome as { error: unknown }).error).toBeInstanceOf(KeyTaken);
    expect(await ask("GET", key("taken"))).toBe("first");
    expect(await ask("EXISTS", key("other"))).toBe(0);
    expect(await stepsOf(store, lease.runId)).toEqual([]);
  });

  test("may insert a key they have deleted, and not one they have set", async () => {
    await ask("SET", key("old"), "first");
    expect(await mutate((db) => db.del(key("old")).insert(key("old"), "second"))).toMatchObject({
      kind: "committed",
    });
    expect(await ask("GET", key("old"))).toBe("second");
    const twice = await mutate((db) => db.set(key("new"), "a").insert(key("new"), "b"), 2);
    expect(twice).toMatchObject({ kind: "mutation-failed", conflict: true });
    expect(await ask("EXISTS", key("new"))).toBe(0);
  });

  test("that one of them fails are all taken back, with types, values and times to live", async () => {
    await ask("SET", key("text"), "before");
    await ask("PEXPIRE", key("text"), "1000000");
    await ask("RPUSH", key("list"), "a", "b");
    await ask("HSET", key("hash"), "field", "before");
    await ask("ZADD", key("set"), "1", "x");
    await ask("XADD", key("stream"), "1-1", "f", "v");
    const before = await dump();
    const outcome = await mutate((db) => {
      db.set(key("text"), "after").lpop(key("list")).rename(key("list"), key("moved")).del(key("hash"));
      db.zadd(key("set"), 2, "y")
        .xadd(key("stream"), "*", "f", "w")
        .set(key("created"), "x")
        .unlink(key("set"));
      db.incr(key("stream"));
    });
    expect(outcome).toMatchObject({
      kind: "mutation-failed",
      conflict: false,
      error: { code: "MUTATION_INVALID", message: expect.stringContaining("WRONGTYPE") },
    });
    expect(await dump()).toEqual(before);
    expect(Number(await ask("PTTL", key("text")))).toBeGreaterThan(900_000);
    expect(await stepsOf(store, lease.runId)).toEqual([]);
  });

  test("that write a key too large to be copied in passing say so when they cannot be taken back", async () => {
    const many = Array.from({ length: 6000 }, (_unused, n) => String(n));
    await ask("SADD", key("large"), ...many);
    await ask("SADD", key("large"), ...many.map((member) => `more ${member}`));
    const outcome = await mutate((db) =>
      db.sadd(key("large"), "new").set(key("small"), "x").incr(key("large")),
    );
    expect(outcome).toMatchObject({
      kind: "mutation-failed",
      error: { message: expect.stringContaining(`"${key("large")}" could not be taken back`) },
    });
    expect(await ask("EXISTS", key("small"))).toBe(0);
  });

  test.each<[string, (db: RedisCommands, key: (name: string) => string) => unknown, string]>([
    ["that do not exist", (db, key) => db.set(key("a"), "x").nonsense(key("b")), "NONSENSE"],
    ["with too few arguments", (db, key) => db.set(key("a"), "x").hset(key("b")), "HSET"],
    ["without a key", (db, key) => db.set(key("a"), "x").flushdb(), "FLUSHDB"],
    [
      "that are not for scripts",
      (db, key) => db.set(key("a"), "x").call("EVAL", "return 1", 1, key("a")),
      "EVAL",
    ],
  ])("%s are refused, and nothing is applied", async (_what, record, name) => {
    const outcome = await mutate((db) => record(db, key));
    expect(outcome).toMatchObject({
      kind: "mutation-failed",
      conflict: false,
      error: { code: "MUTATION_INVALID", message: expect.stringContaining(name) },
    });
    expect(await ask("EXISTS", key("a"))).toBe(0);
    expect(await stepsOf(store, lease.runId)).toEqual([]);
  });

  test("never touch the store's own keys", async () => {
    const outcome = await mutate((db) => db.del(`{${namespaceOf(store)}}:meta`));
    expect(outcome).toMatchObject({
      kind: "mutation-failed",
      error: { message: expect.stringContaining("belong to everstep") },
    });
  });

  test("may tell others through a channel", async () => {
    expect(await mutate((db) => db.publish("news", "paid"))).toMatchObject({ kind: "committed" });
  });

  test("of a lease that was lost are not run, and what their code throws concerns nobody", async () => {
    await claimOne(store, "a", at(leaseMs));
    expect(await mutate((db) => db.set(key("stale"), "x"))).toEqual({ kind: "superseded" });
    const thrown = await mutate(() => {
      throw new Error("author's own");
    });
    expect(thrown).toEqual({ kind: "superseded" });
    expect(await ask("EXISTS", key("stale"))).toBe(0);
  });

  test("may be recorded after an await", async () => {
    const late = await mutate(async (db) => {
      await Promise.resolve();
      return db.set(key("awaited"), "x");
    });
    expect(late.kind).toBe("committed");
    expect(await ask("GET", key("awaited"))).toBe("x");
  });

  function key(name: string): string {
    return `{${namespaceOf(store)}}/${name}`;
  }

  function mutate(mutation: Mutation, number = 1): Promise<CommitOutcome> {
    return commitWith({ serviceCalls: [], mutate: [mutation] }, number);
  }

  async function commitWith(mutations: Mutations, number = 1): Promise<CommitOutcome> {
    const request = commit(lease, boundary(number, { steps: [completed(number)] }), { mutations });
    return (await store.write([request], at(number)))[0] as CommitOutcome;
  }

  function ask(command: string, ...args: string[]): Promise<unknown> {
    return client.call(command, args);
  }

  async function dump(): Promise<unknown> {
    return {
      text: await ask("GET", key("text")),
      list: await ask("LRANGE", key("list"), "0", "-1"),
      hash: await ask("HGETALL", key("hash")),
      set: await ask("ZRANGE", key("set"), "0", "-1", "WITHSCORES"),
      stream: await ask("XRANGE", key("stream"), "-", "+"),
      others: await ask("EXISTS", key("moved"), key("created")),
    };
  }
});
