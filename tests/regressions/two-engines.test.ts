/** Two engines in one database, with the same ids in both, know nothing of each other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkflows } from "everstep";
import { postgres } from "everstep/postgres";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { erased } from "../../packages/everstep/src/testing/store-contract/acts.ts";
import { mixed } from "./actor.ts";
import { quiet } from "./quiet.ts";
import { onEachServer } from "./servers.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const act of cleanUps.splice(0).reverse()) await act();
});

async function expectApart(stores: readonly [Store, Store]): Promise<void> {
  const [one, two] = stores.map((store) =>
    createWorkflows({ workflows: { MIXED: mixed }, store, ...quiet() }),
  );
  if (!one || !two) throw new Error("There are two.");
  await one.start();
  const first = await one.workflows.MIXED.create({ id: "i", params: { quick: true } });
  expect(await first.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
  // The other one is as empty as it was.
  expect(await two.counts()).toMatchObject({ active: 0, waiting: 0, complete: 0 });
  await expect(two.workflows.MIXED.get("i")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  const second = await two.workflows.MIXED.create({ id: "i" });
  await second.sendEvent({ type: "note", idempotencyKey: "note" });
  const busy = await one.workflows.MIXED.create({ id: "j" });
  await busy.sendEvent({ type: "note", idempotencyKey: "note" });
  expect(await busy.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete", output: 2 });
  expect(await second.status()).toEqual({ status: "active" });
  await two.start();
  expect(await second.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete", output: 2 });
  await first.restart();
  expect((await second.details()).runNumber).toBe(1);
  expect(await erased(one.store, { workflowName: "mixed", instanceId: "i" })).toBe(true);
  expect(await second.status()).toMatchObject({ status: "complete" });
  expect((await second.history()).steps).toHaveLength(4);
  for (const app of [one, two]) await app.stop();
}

describe("R-074 two engines in one database", () => {
  test("are apart in a SQLite file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "everstep-two-"));
    cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
    const open = (namespace: string): Store => sqlite({ path: join(folder, "app.db"), namespace });
    await expectApart([open("one"), open("one_two")]);
  });

  onEachServer("are apart", (take) => {
    test("on a server", async () => {
      await expectApart([take().open(null), take().open(null)]);
    });
  });

  test.skipIf(process.env.EVERSTEP_POSTGRES_URL === undefined)(
    "and see no table that a search_path puts before theirs (postgres)",
    async () => {
      const url = new URL(process.env.EVERSTEP_POSTGRES_URL as string);
      const name = `engine_${process.pid}`;
      const admin = new pg.Client({ connectionString: url.href });
      await admin.connect();
      const tables = ["meta", "instance", "run", "step", "event", "log", "ending", "publication", "change"];
      cleanUps.push(async () => {
        for (const schema of [`${name}_a`, `${name}_b`, `${name}_decoy`])
          await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        await admin.query(`DROP OWNED BY ${name}`);
        await admin.query(`DROP ROLE ${name}`);
        await admin.end();
      });
      const password = "of-this-test-only";
      await admin.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
      await admin.query(`GRANT CREATE ON DATABASE ${url.pathname.slice(1)} TO ${name}`);
      await admin.query(`CREATE SCHEMA ${name}_decoy AUTHORIZATION ${name}`);
      for (const table of tables) await admin.query(`CREATE TABLE ${name}_decoy.${table} (id int)`);
      await admin.query(`ALTER ROLE ${name} SET search_path = ${name}_decoy`);
      Object.assign(url, { username: name, password });
      const open = (namespace: string): Store => postgres({ url: url.href, namespace, max: 4 });
      await expectApart([open(`${name}_a`), open(`${name}_b`)]);
      for (const table of tables)
        expect((await admin.query(`SELECT * FROM ${name}_decoy.${table}`)).rows).toEqual([]);
    },
  );
});
