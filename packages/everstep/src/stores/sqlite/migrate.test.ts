import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import {
  makeFirstSchema,
  startScript,
  temporaryFolder,
  watchedDriver,
} from "../../../../../tests/support/sqlite-place.ts";
import { at, claimRequest, create, ref, terminate } from "../../testing/store-contract/given.ts";
import { sqlite } from "./index.ts";
import { migrations } from "./schema.ts";

const newest = migrations.at(-1)?.version ?? 0;
const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let path = "";
let files = 0;
beforeEach(() => {
  files += 1;
  path = join(folder, `${files}.db`);
});

function raw(sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

test("nothing is opened before the first call", async () => {
  const store = sqlite(path);
  expect(existsSync(path)).toBe(false);
  await store.close();
  expect(existsSync(path)).toBe(false);
});

test("the first call migrates by itself, and a later migrate finds nothing to do", async () => {
  const store = sqlite(path);
  expect(await store.getInstance(ref("nobody"))).toBeUndefined();
  await store.close();
  const again = sqlite(path);
  expect(await again.migrate()).toEqual({ from: newest, to: newest, statements: [] });
  await again.close();
});

test("eight processes that open the same new file at once all succeed", async () => {
  const scripts = Array.from({ length: 8 }, (_unused, n) =>
    startScript(
      `
      const store = sqlite(args.path);
      print("ready");
      await nextLine();
      await store.migrate();
      // Opening waits for the others by itself. A write waits a moment only, and is then to be tried again.
      for (let isWritten = false; !isWritten; ) {
        try {
          await store.write([given.create("i" + args.n)], given.at(0));
          isWritten = true;
        } catch (error) {
          if (error.code !== "STORE_BUSY") throw error;
        }
      }
      await store.close();
      `,
      { path, n },
    ),
  );
  for (const script of scripts) expect(await script.line()).toBe("ready");
  for (const script of scripts) script.send("go");
  await Promise.all(scripts.map((script) => script.ended));

  const store = sqlite(path);
  expect((await store.countByStatus()).active).toBe(8);
  await store.close();
});

test("the file is in WAL mode and every commit is synced, unless the user said otherwise", async () => {
  for (const [synchronous, level] of [
    ["full", 2],
    ["normal", 1],
  ] as const) {
    const { driver, database } = watchedDriver();
    const store = sqlite({ path: join(folder, `${synchronous}.db`), synchronous, driver });
    await store.migrate();
    expect(database().prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(database().prepare("PRAGMA synchronous").get()).toEqual({ synchronous: level });
    expect(database().prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 250 });
    await store.close();
  }
});

test("a claim does not wait for the disk, and everything after it does", async () => {
  const { driver, database } = watchedDriver();
  const store = sqlite({ path: join(folder, "claims.db"), driver });
  await store.migrate();
  const levels: unknown[] = [];
  const exec = database().exec.bind(database());
  database().exec = (sql) => {
    exec(sql);
    levels.push(database().prepare("PRAGMA synchronous").get()?.synchronous);
  };
  await store.write([create("a")], at(0));
  expect(levels).toEqual([]);
  expect(await store.claim(claimRequest({ now: at(1) }))).toHaveLength(1);
  expect(levels).toEqual([1, 2]);
  await store.close();
});

test("a beat does not wait for the disk either", async () => {
  const { driver, database } = watchedDriver();
  const store = sqlite({ path: join(folder, "beats.db"), driver });
  await store.migrate();
  const levels: unknown[] = [];
  const exec = database().exec.bind(database());
  database().exec = (sql) => {
    exec(sql);
    levels.push(database().prepare("PRAGMA synchronous").get()?.synchronous);
  };
  const times = { startedAt: at(0), seenAt: at(0), stoppedAt: null };
  const runner = { owner: "a", host: null, pid: null, ...times, concurrency: 1, turns: 0, workflows: [] };
  await store.beat({ runner, tallies: [], forgetBefore: 0 });
  expect(levels).toEqual([1, 2]);
  await store.close();
});

test("processes of every earlier version go on beside the newest schema", () => {
  expect(migrations.map(({ oldestCompatible }) => oldestCompatible)).toEqual(migrations.map(() => 1));
});

test("a schema that needs newer code is refused, with both versions, and left alone (R-089)", async () => {
  await sqlite(path).migrate();
  raw("UPDATE everstep_meta SET value = 9 WHERE name IN ('schema_version', 'oldest_compatible')");
  const store = sqlite(path);
  await expect(store.migrate()).rejects.toMatchObject({
    code: "SCHEMA_TOO_NEW",
    message: expect.stringMatching(
      new RegExp(`schema version 9.*this everstep knows ${newest}.*update everstep`, "s"),
    ),
  });
  await expect(store.write([create("a")], at(0))).rejects.toMatchObject({ code: "SCHEMA_TOO_NEW" });
  await store.close();
});

test("a newer schema that older code may use is used", async () => {
  await sqlite(path).migrate();
  raw("UPDATE everstep_meta SET value = 9 WHERE name = 'schema_version'");
  const store = sqlite(path);
  expect(await store.migrate()).toEqual({ from: 9, to: 9, statements: [] });
  expect(await store.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
  await store.close();
});

test("a file that is no database is refused and not touched", async () => {
  for (const text of ["hello", "x".repeat(5000)]) {
    writeFileSync(path, text);
    const store = sqlite(path);
    await expect(store.migrate()).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      failure: "fatal",
      message: expect.stringContaining(path),
    });
    await store.close();
    expect(readFileSync(path, "utf8")).toBe(text);
    expect([existsSync(`${path}-wal`), existsSync(`${path}-journal`)]).toEqual([false, false]);
  }
});

test("a database with the user's own tables is shared with them", async () => {
  raw(
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customer (name) VALUES ('Ann')",
  );
  const store = sqlite(path);
  expect(await store.migrate()).toMatchObject({ from: 0, to: newest });
  await store.close();
  const db = new DatabaseSync(path);
  expect(db.prepare("SELECT name FROM customer").all()).toEqual([{ name: "Ann" }]);
  db.close();
});

test("a table of another making under our name is refused, and nothing is changed", async () => {
  raw("CREATE TABLE everstep_meta (key TEXT, content TEXT)");
  await expect(sqlite(path).migrate()).rejects.toMatchObject({
    code: "STORE_NOT_OURS",
    message: expect.stringMatching(/everstep_meta.*another `namespace`/s),
  });
  raw("DROP TABLE everstep_meta; CREATE TABLE everstep_meta (name TEXT, value TEXT)");
  await expect(sqlite(path).migrate()).rejects.toMatchObject({ code: "STORE_NOT_OURS" });
  const db = new DatabaseSync(path);
  expect(db.prepare("SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table'").get()).toEqual({
    tables: 1,
  });
  db.close();
});

test("a migration that cannot be finished leaves nothing behind", async () => {
  raw("CREATE TABLE everstep_log (mine TEXT)");
  await expect(sqlite(path).migrate()).rejects.toMatchObject({ code: "STORE_FAILED" });
  const db = new DatabaseSync(path);
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()).toEqual([
    { name: "everstep_log" },
  ]);
  db.close();
  raw("DROP TABLE everstep_log");
  expect(await sqlite(path).migrate()).toMatchObject({ from: 0, to: newest });
});

test("two namespaces in one file know nothing of each other", async () => {
  const one = sqlite({ path, namespace: "one" });
  const two = sqlite({ path, namespace: "two" });
  await one.write([create("a")], at(0));
  expect(await two.getInstance(ref("a"))).toBeUndefined();
  expect(await two.write([create("a")], at(0))).toMatchObject([{ kind: "created" }]);
  await one.close();
  await two.close();
});

test("a folder that does not exist is named", async () => {
  const store = sqlite(join(folder, "nowhere", "x.db"));
  await expect(store.migrate()).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(join(folder, "nowhere")),
  });
});

test("a failure to open is not kept: the next call tries again", async () => {
  const late = join(folder, "late");
  const store = sqlite(join(late, "x.db"));
  await expect(store.migrate()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  mkdirSync(late);
  expect(await store.migrate()).toMatchObject({ from: 0, to: newest });
  await store.close();
});

// The superuser may write everything, so the script becomes somebody else where it can.
describe.skipIf(process.platform === "win32")("without the right to write", () => {
  const attempt = async (place: string): Promise<string> => {
    const script = startScript(
      `
      const store = sqlite(args.path);
      if (process.getuid() === 0) process.setuid(65534);
      try {
        await store.migrate();
        await store.write([given.create("a")], given.at(0));
        print("written");
      } catch (error) {
        print(error.code + " " + error.message);
      }
      `,
      { path: place },
    );
    const answer = await script.line();
    await script.kill();
    return answer;
  };

  test("a read-only file is named as such", async () => {
    const place = join(folder, "readable");
    mkdirSync(place);
    chmodSync(folder, 0o755);
    chmodSync(place, 0o777);
    const file = join(place, "x.db");
    writeFileSync(file, "");
    chmodSync(file, 0o444);
    expect(await attempt(file)).toMatch(/^STORE_READ_ONLY .*readable\/x\.db/);
  });

  test("a read-only folder is named as such", async () => {
    const place = join(folder, "closed");
    mkdirSync(place);
    chmodSync(folder, 0o755);
    chmodSync(place, 0o555);
    expect(await attempt(join(place, "x.db"))).toMatch(/^STORE_READ_ONLY .*closed\/x\.db/);
  });

  test("an existing database in a read-only folder is named as such", async () => {
    const place = join(folder, "shut");
    mkdirSync(place);
    const file = join(place, "x.db");
    const store = sqlite(file);
    await store.migrate();
    await store.close();
    chmodSync(folder, 0o755);
    chmodSync(file, 0o666);
    chmodSync(place, 0o555);
    expect(await attempt(file)).toMatch(/^STORE_READ_ONLY .*shut\/x\.db/);
  });
});

test("a file of the first schema is brought up to date and keeps its instances (R-089)", async () => {
  makeFirstSchema(path);
  raw(`
    INSERT INTO everstep_instance (id, workflow, instance_id, run, created_at, params) VALUES (1, 'order', 'a', 1, 5, '{}');
    INSERT INTO everstep_run (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, token, recorded,
      created_at, updated_at) VALUES (1, 1, 'order', 1, 1, 'active', 'run', 1, 5, 0, 0, 5, 5);
    UPDATE everstep_meta SET value = 1 WHERE name = 'last_run';
  `);
  const store = sqlite(path);
  expect(await store.migrate({ plan: true })).toMatchObject({ from: 1, to: newest });
  expect(await store.migrate()).toMatchObject({ from: 1, to: newest });
  expect(await store.write([terminate("a")], at(10))).toMatchObject([{ kind: "changed" }]);
  await store.close();
});

test("a plan for a file that is not there leaves it so", async () => {
  const store = sqlite(path);
  const plan = await store.migrate({ plan: true });
  expect(plan.statements.join("\n")).toContain("CREATE TABLE everstep_run");
  expect(existsSync(path)).toBe(false);
  await store.close();
});
