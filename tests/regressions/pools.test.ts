/** Few connections and many who want one: transactions stay apart, and leases are kept. */
import {
  type App,
  createWorkflows,
  defineWorkflow,
  type InstanceHandle,
  type WorkflowDefinition,
} from "everstep";
import { expect, test } from "vitest";
import { type AuthorTable, authorTable } from "./author-table.ts";
import { quiet } from "./quiet.ts";
import { onEachServer, type Server } from "./servers.ts";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

onEachServer("pools", (take, name) => {
  // Redis keeps one connection for everybody, and an author's writes are sent with the commit.
  if (name === "redis") return test.skip("are for servers with transactions");

  const withTable = async (scenario: (server: Server, table: AuthorTable) => Promise<void>) => {
    const server = take();
    const table = await authorTable(name, server.namespace);
    await scenario(server, table).finally(() => table.drop());
  };

  test("R-066 of 200 transactions on two connections, a tenth rolled back, none has rows of another", () =>
    withTable(async (server, table) => {
      const workflow = defineWorkflow({ name: "w" }, async ({ instanceId, payload }, step) =>
        step.do("write", { retries: false }, async ({ mutate }) => {
          mutate(async (db) => {
            await table.insert(db, `${instanceId}-1`);
            await table.insert(db, `${instanceId}-2`);
            if (payload.fails) throw new Error("rolled back");
          });
        }),
      );
      // Two processes of two connections each, so that transactions are open at the same time.
      const apps = ["a", "b"].map(() =>
        createWorkflows({ workflows: { W: workflow }, store: server.open(null, { max: 2 }), ...quiet() }),
      );
      for (const app of apps) await app.start();
      const made = await Promise.all(
        apps.map((app, at) => {
          const one = (n: number) => ({ id: `${at}-${n}`, params: { fails: n % 10 === 0 } });
          return app.workflows.W.createBatch(Array.from({ length: 100 }, (_, n) => one(n)));
        }),
      );
      const ended = await Promise.all(
        made.flat().map((instance) => instance.result({ timeout: "60 seconds" })),
      );
      expect(ended.filter(({ status }) => status === "errored")).toHaveLength(20);
      const kept = made.flat().filter((_, n) => ended[n]?.status === "complete");
      expect(await table.ids()).toEqual(kept.flatMap(({ id }) => [`${id}-1`, `${id}-2`]).toSorted());
      for (const app of apps) await app.stop();
    }));

  test("R-068 fifty steps that hold every connection lose no lease and no heartbeat", () =>
    withTable(async (server, table) => {
      let starts = 0;
      const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) =>
        step.do("hold", async ({ mutate, attempt }) => {
          starts++;
          mutate(async (db) => {
            await table.hold(db, 30);
            await table.insert(db, `${instanceId}-${attempt}`);
          });
        }),
      );
      const app = createWorkflows({
        workflows: { W: workflow },
        store: server.open(null, { max: 2 }),
        runner: { lease: "1 second" },
        ...quiet(),
      });
      await app.start();
      const batch = Array.from({ length: 50 }, (_, n) => ({ id: `i${n}` }));
      const instances = await app.workflows.W.createBatch(batch);
      for (const instance of instances) {
        expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
        expect((await instance.details()).runNumber).toBe(1);
      }
      expect(starts).toBe(50);
      expect(await table.ids()).toEqual(batch.map(({ id }) => `${id}-1`).toSorted());
      await app.stop();
    }));

  test("R-080 two hundred transactions leave no listener behind", () =>
    withTable(async (server, table) => {
      const warnings: Error[] = [];
      const onWarning = (warning: Error): void => void warnings.push(warning);
      process.on("warning", onWarning);
      const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
        for (let n = 0; n < 20; n++) {
          await step.do(`write ${n}`, async ({ mutate }) =>
            mutate((db) => table.insert(db, `${instanceId}-${n}`)),
          );
        }
      });
      const app = createWorkflows({
        workflows: { W: workflow },
        store: server.open(null, { max: 1 }),
        ...quiet(),
      });
      await app.start();
      const batch = Array.from({ length: 10 }, (_, n) => ({ id: `i${n}` }));
      for (const instance of await app.workflows.W.createBatch(batch))
        expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
      await pause(10);
      process.off("warning", onWarning);
      expect(warnings).toEqual([]);
      await app.stop();
    }));

  const withSlowTransaction = (
    scenario: (app: App<{ W: WorkflowDefinition }>, slow: InstanceHandle) => Promise<void>,
  ): Promise<void> =>
    withTable(async (server, table) => {
      let begun = 0;
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const workflow = defineWorkflow({ name: "w" }, async ({ payload }, step) => {
        if (!payload?.slow) return "quick";
        return step.do("slow", async ({ mutate }) => {
          mutate(async (db) => {
            await table.insert(db, "slow");
            begun++;
            // Whoever waits for it waits in vain.
            await released;
          });
        });
      });
      const app = createWorkflows({ workflows: { W: workflow }, store: server.open(null), ...quiet() });
      await app.start();
      const slow = await app.workflows.W.create({ id: "slow", params: { slow: true } });
      while (begun === 0) await pause(5);
      try {
        await scenario(app, slow);
        release();
        expect(await slow.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
      } finally {
        release();
        await app.stop();
      }
    });

  test("R-090 whoever wants something of others does not wait for an author's slow transaction", () =>
    withSlowTransaction(async (app) => {
      const quick = await app.workflows.W.create({ id: "quick", startAt: Date.now() + 60_000 });
      await quick.sendEvent({ type: "note" });
      await quick.terminate();
      const ran = await app.workflows.W.create({ id: "ran" });
      expect(await ran.result({ timeout: "60 seconds" })).toMatchObject({
        status: "complete",
        output: "quick",
      });
    }));

  test("R-090 nor does it when somebody sends an event to the instance that is at it", () =>
    withSlowTransaction(async (app, slow) => {
      const sending = slow.sendEvent({ type: "note" }).catch(() => {});
      await pause(20);
      await app.workflows.W.create({ id: "quick" });
      void sending;
    }));
});
