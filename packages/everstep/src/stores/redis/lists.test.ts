import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { started, suspended } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaitingTopic,
  boundary,
  commit,
  create,
  never,
  sleeping,
  suspendUntil,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("lists of Redis", () => {
  let client: RedisClient;
  let store: RedisStore;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(() => {
    store = openFresh();
  });
  afterEach(() => store.close());

  test("an id is looked for in steps, each of which looks at about 10,000 instances, and is found once", async () => {
    for (let from = 0; from < 24_000; from += 2000) {
      const some = Array.from({ length: 2000 }, (_unused, n) => from + n);
      await store.write(
        some.map((n) =>
          create(n === 11_111 ? "needle" : `i${n}`, { workflowName: `w${n % 2}`, createdAt: n }),
        ),
        at(0),
      );
    }
    for (const order of ["asc", "desc"] as const) {
      const found: string[] = [];
      let after: string | undefined;
      let pages = 0;
      do {
        const page = await store.listInstances({
          ...{ limit: 10, idPrefix: "needle", order },
          ...(after === undefined ? {} : { after }),
        });
        found.push(...page.items.map(({ instanceId }) => instanceId));
        after = page.after;
        pages += 1;
      } while (after !== undefined);
      expect(found).toEqual(["needle"]);
      expect(pages).toBeGreaterThan(2);
    }
  });

  test("topics of data that is older than their list are found, and those that nobody waits on are not", async () => {
    for (const n of [1, 2, 3]) await suspended(store, `i${n}`, [awaitingTopic(1, `t${n}`, never)], never);
    const prefix = `{${namespaceOf(store)}}:`;
    await client.call("DEL", [`${prefix}topics`]);
    await client.call("HDEL", [`${prefix}meta`, "topics"]);
    await suspended(store, "i4", [awaitingTopic(1, "t4", never)], never);
    await client.call("ZADD", [`${prefix}topics`, "0", "t0"]);
    const topics = ["t1", "t2", "t3", "t4"].map((topic) => ({ topic, waiters: 1 }));
    expect(await store.listTopics({ limit: 10 })).toEqual({ items: topics });
    expect(await client.call("HGET", [`${prefix}meta`, "topics"])).toBe("1");
  });

  test("a run of data that is older than the word for why it is due goes on like any other", async () => {
    const { lease } = await started(store, "a");
    const sleeps = boundary(1, { steps: [sleeping(1, at(5))], next: suspendUntil(at(5)) });
    await store.write([commit(lease, sleeps)], at(1));
    await client.call("HDEL", [`{${namespaceOf(store)}}:run:${lease.runId}`, "kind"]);
    expect(await store.listDue({ before: at(5), limit: 5 })).toMatchObject([
      { instanceId: "a", kind: "resume" },
    ]);
  });
});
