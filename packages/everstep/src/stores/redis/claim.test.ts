import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, claimRequest, create, leaseMs, workflow } from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("a claim", () => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });

  test("moves a bounded number of damaged runs aside, however many there are (R-083)", async () => {
    const store = openFresh();
    await store.migrate();
    for (let n = 0; n < 10; n += 1) {
      await store.write(
        Array.from({ length: 200 }, (_unused, m) => create(`i${n} ${m}`)),
        at(0),
      );
    }
    const place = (name: string): string => `{${namespaceOf(store)}}:${name}`;
    const runs = (await client.call("KEYS", [place("run:*")])) as string[];
    await client.call("DEL", runs);
    const left = async (): Promise<number> =>
      Number(await client.call("ZCARD", [place(`due:starting:${workflow}`)]));
    const request = claimRequest({ now: at(leaseMs), limit: 10 });
    expect(await store.claim(request)).toEqual([]);
    expect(2000 - (await left())).toBe(510);
    while ((await left()) > 0) await store.claim(request);
    await store.close();
  });

  test("of a hundred workflows asks for no more than it takes", async () => {
    const store = openFresh();
    await store.migrate();
    const names = Array.from({ length: 100 }, (_unused, n) => `workflow ${n}`);
    await store.write(
      names.flatMap((workflowName, n) => [
        create("a", { workflowName, dueAt: at(n) }),
        create("b", { workflowName, dueAt: at(100 + n) }),
      ]),
      at(0),
    );
    const workflows = names.map((name) => ({ name, concurrency: 1 }));
    const claims = await store.claim(claimRequest({ now: at(1000), workflows, limit: 150 }));
    expect(claims.map((claim) => `${claim.workflowName} ${claim.instanceId}`)).toEqual(
      names.map((name) => `${name} a`),
    );
    await store.close();
  });
});
