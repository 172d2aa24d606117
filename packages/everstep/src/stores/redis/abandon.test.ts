import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../store/store.ts";
import { erased, started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  abandon,
  at,
  create,
  failure,
  never,
  sleeping,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import { serverProgram, TestServer } from "./test-server.ts";
import { openClient, openFresh } from "./test-support.ts";

// On a server of its own, because the commands of everybody on a server are counted together.
describe.skipIf(serverProgram === undefined)("what an owner leaves behind", () => {
  let server: TestServer;
  let client: RedisClient;
  beforeAll(async () => {
    server = await TestServer.start({ appendfsync: "no" });
    client = await openClient(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  /** All commands that the server has carried out, those inside of scripts included. */
  async function commands(): Promise<number> {
    const stats = String(await client.call("INFO", ["commandstats"]));
    const counts = [...stats.matchAll(/cmdstat_(\w+).*:calls=(\d+)/g)];
    return counts.reduce((sum, [, name, calls]) => (name === "info" ? sum : sum + Number(calls)), 0);
  }

  async function costOf(act: () => Promise<unknown>): Promise<number> {
    const before = await commands();
    await act();
    return (await commands()) - before;
  }

  async function parked(store: Store, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      await suspended(store, `parked ${count} ${n}`, [sleeping(1, never)], never);
    }
  }

  test.each(["expire", "release"] as const)(
    "costs what it holds, not what it parked long ago: %s",
    async (kind) => {
      const store = openFresh({ url: server.url });
      await store.migrate();
      // The server has the scripts from now on.
      const { lease: first } = await started(store, "first");
      await write(store, abandon(first.owner), at(0));
      await erased(store, { workflowName: workflow, instanceId: "first" });
      const costs: number[] = [];
      for (const more of [2, 40]) {
        await parked(store, more);
        const { lease } = await started(store, `held ${more}`);
        const fate = kind === "expire" ? { kind } : { kind, token: lease.token };
        costs.push(
          await costOf(async () => {
            expect(await write(store, abandon(lease.owner, fate), at(1))).toMatchObject({ runs: 1 });
          }),
        );
        await erased(store, { workflowName: workflow, instanceId: `held ${more}` });
      }
      expect(costs[1]).toBe(costs[0]);
      await store.close();
    },
  );

  test("is ended completely, however much it is", async () => {
    const store = openFresh({ url: server.url });
    const lease = { owner: "gone", until: at(1000) };
    const creates = Array.from({ length: 350 }, (_unused, n) => create(`i${n}`, { lease }));
    await store.write([...creates, create("other")], at(0));
    const fate = { kind: "error", error: failure("gone") } as const;
    const outcomes = await store.write([abandon("nobody", fate), abandon("gone", fate)], at(1));
    expect(outcomes).toMatchObject([{ runs: 0 }, { runs: 350 }]);
    expect(await store.countByStatus()).toMatchObject({ active: 1, errored: 350 });
    await store.close();
  });
});
