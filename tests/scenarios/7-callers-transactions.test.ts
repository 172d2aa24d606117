/** Start and signal from inside a transaction of the caller's own: with their rows, or not at all. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type App, createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

const order = defineWorkflow({ name: "order" }, async (event, step) => {
  const paid = await step.waitForEvent<{ amount: number }>("paid", { type: "paid", timeout: "1 hour" });
  return { for: event.payload.for, amount: paid.payload.amount };
});

/** A table of the caller's own beside the store, and transactions on it. */
interface Caller {
  readonly store: Store;
  begin(): Promise<CallerTransaction>;
  rows(): Promise<string[]>;
  end(): Promise<void>;
}

interface CallerTransaction {
  readonly tx: unknown;
  insert(id: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function onEachDatabase(scenarios: (open: () => Promise<{ app: App; caller: Caller }>) => void): void {
  const opening = (make: () => Promise<Caller>) => async () => {
    const caller = await make();
    ends.push(() => caller.end());
    const app = createWorkflows({ workflows: { ORDER: order }, store: caller.store });
    ends.push(() => app.stop());
    await app.start();
    return { app: app as unknown as App, caller };
  };
  describe("callers' transactions (sqlite)", () => scenarios(opening(sqliteCaller)));
  for (const { name, make } of [
    { name: "postgres", make: postgresCaller },
    { name: "mysql", make: mysqlCaller },
  ] as const) {
    const server = serverStores.find((each) => each.name === name);
    describe.skipIf(server?.url === undefined)(`callers' transactions (${name})`, () =>
      scenarios(opening(make)),
    );
  }
}

onEachDatabase((open) => {
  test("an instance created with the caller's row runs once the transaction commits", async () => {
    const { app, caller } = await open();
    const own = await caller.begin();
    await own.insert("o-1");
    const instance = await app.workflows.ORDER?.create({ id: "o-1", params: { for: "Ada" } }, { tx: own.tx });
    await own.commit();
    await instance?.sendEvent({ type: "paid", payload: { amount: 7 } });
    expect(await instance?.result({ timeout: "60 seconds" })).toMatchObject({
      status: "complete",
      output: { for: "Ada", amount: 7 },
    });
    expect(await caller.rows()).toEqual(["o-1"]);
  });

  test("neither is there when the transaction is rolled back", async () => {
    const { app, caller } = await open();
    const own = await caller.begin();
    await own.insert("o-1");
    await app.workflows.ORDER?.create({ id: "o-1" }, { tx: own.tx });
    await own.rollback();
    await expect(app.workflows.ORDER?.get("o-1")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    expect(await caller.rows()).toEqual([]);
  });

  test("an event sent in a transaction arrives when it commits, and not when it is rolled back", async () => {
    const { app, caller } = await open();
    const instance = await app.workflows.ORDER?.create({ id: "o-1", params: { for: "Ada" } });
    const undone = await caller.begin();
    await instance?.sendEvent({ type: "paid", payload: { amount: 1 } }, { tx: undone.tx });
    await undone.rollback();
    const done = await caller.begin();
    await instance?.sendEvent({ type: "paid", payload: { amount: 2 } }, { tx: done.tx });
    await done.commit();
    expect(await instance?.result({ timeout: "60 seconds" })).toMatchObject({ output: { amount: 2 } });
  });

  test("a batch goes into the transaction too, and ids that exist are left out", async () => {
    const { app, caller } = await open();
    const own = await caller.begin();
    await app.workflows.ORDER?.create({ id: "b" }, { tx: own.tx });
    const made = await app.workflows.ORDER?.createBatch([{ id: "a" }, { id: "b" }, { id: "c" }], {
      tx: own.tx,
    });
    expect(made?.map(({ id }) => id)).toEqual(["a", "c"]);
    await own.commit();
    expect((await app.workflows.ORDER?.list())?.items.length).toBe(3);
  });

  test("an id that is taken is refused, and the caller's transaction goes on", async () => {
    const { app, caller } = await open();
    await app.workflows.ORDER?.create({ id: "o-1" });
    const own = await caller.begin();
    await expect(app.workflows.ORDER?.create({ id: "o-1" }, { tx: own.tx })).rejects.toMatchObject({
      code: "INSTANCE_ID_ALREADY_EXISTS",
    });
    await own.insert("still there");
    await own.commit();
    expect(await caller.rows()).toEqual(["still there"]);
  });

  test("what is no transaction is refused with what to pass instead", async () => {
    const { app } = await open();
    const creating = app.workflows.ORDER?.create({ id: "o-1" }, { tx: { not: "a transaction" } });
    await expect(creating).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: /tx/ });
  });
});

test("tables are not made inside the caller's transaction: it is told so at once", async () => {
  const caller = await sqliteCaller();
  ends.push(() => caller.end());
  const app = createWorkflows({ workflows: { ORDER: order }, store: caller.store });
  ends.push(() => app.stop());
  const own = await caller.begin();
  await expect(app.workflows.ORDER.create({ id: "o-1" }, { tx: own.tx })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: /app\.migrate\(\)/,
  });
  await own.insert("still there");
  await own.commit();
  await app.migrate();
  const again = await caller.begin();
  await app.workflows.ORDER.create({ id: "o-1" }, { tx: again.tx });
  await again.commit();
  expect((await app.workflows.ORDER.list()).items).toHaveLength(1);
});

test("a store without transactions says so", async () => {
  const app = createWorkflows({ workflows: { ORDER: order }, store: memory() });
  ends.push(() => app.stop());
  const creating = app.workflows.ORDER.create({ id: "o-1" }, { tx: {} });
  await expect(creating).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message: /Leave `tx` out/ });
});

async function sqliteCaller(): Promise<Caller> {
  const folder = mkdtempSync(join(tmpdir(), "everstep-caller-"));
  const path = join(folder, "app.db");
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE caller_row (id TEXT PRIMARY KEY)");
  return {
    store: sqlite({ path, synchronous: "normal" }),
    async begin() {
      database.exec("BEGIN IMMEDIATE");
      return {
        tx: database,
        insert: async (id) => void database.prepare("INSERT INTO caller_row VALUES (?)").run(id),
        commit: async () => database.exec("COMMIT"),
        rollback: async () => database.exec("ROLLBACK"),
      };
    },
    rows: async () =>
      database
        .prepare("SELECT id FROM caller_row")
        .all()
        .map(({ id }) => String(id)),
    async end() {
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function namespaced(name: string) {
  const server = serverStores.find((each) => each.name === name);
  if (server === undefined) throw new Error(`There is no ${name}.`);
  const namespaces = new Namespaces(server);
  const namespace = namespaces.take();
  return { store: server.open(namespace), namespace, clean: () => namespaces.giveBack(namespace) };
}

async function postgresCaller(): Promise<Caller> {
  const { store, namespace, clean } = namespaced("postgres");
  const table = `caller_row_${namespace}`;
  const client = new pg.Client({ connectionString: process.env.EVERSTEP_POSTGRES_URL });
  await client.connect();
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY)`);
  return {
    store,
    async begin() {
      await client.query("BEGIN");
      return {
        tx: client,
        insert: async (id) => void (await client.query(`INSERT INTO ${table} VALUES ($1)`, [id])),
        commit: async () => void (await client.query("COMMIT")),
        rollback: async () => void (await client.query("ROLLBACK")),
      };
    },
    rows: async () => (await client.query(`SELECT id FROM ${table}`)).rows.map(({ id }) => id),
    async end() {
      await client.query(`DROP TABLE ${table}`);
      await client.end();
      await clean();
    },
  };
}

async function mysqlCaller(): Promise<Caller> {
  const { store, namespace, clean } = namespaced("mysql");
  const table = `caller_row_${namespace}`;
  const connection = await createConnection(process.env.EVERSTEP_MYSQL_URL ?? "");
  await connection.query(`CREATE TABLE IF NOT EXISTS ${table} (id VARCHAR(100) PRIMARY KEY)`);
  return {
    store,
    async begin() {
      // Otherwise it would not see what was written after its first statement.
      await connection.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
      await connection.beginTransaction();
      return {
        tx: connection,
        insert: async (id) => void (await connection.query(`INSERT INTO ${table} VALUES (?)`, [id])),
        commit: () => connection.commit(),
        rollback: () => connection.rollback(),
      };
    },
    async rows() {
      const [rows] = await connection.query(`SELECT id FROM ${table}`);
      return (rows as { id: string }[]).map(({ id }) => id);
    },
    async end() {
      await connection.query(`DROP TABLE ${table}`);
      await connection.end();
      await clean();
    },
  };
}
