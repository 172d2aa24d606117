import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder, watchedDriver } from "../../../../../tests/support/sqlite-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { Mutation } from "../../model/mutations.ts";
import type { CommitOutcome } from "../../store/store.ts";
import { snapshot, started, stepsOf, write } from "../../testing/store-contract/acts.ts";
import { at, boundary, commit, completed, create, ref } from "../../testing/store-contract/given.ts";
import type { SqliteStore } from "./index.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let path = "";
let store: SqliteStore;
let engineHandle: () => DatabaseSync;
let lease: Lease;

beforeEach(async () => {
  files += 1;
  path = join(folder, `${files}.db`);
  const { driver, database } = watchedDriver();
  engineHandle = database;
  store = sqlite({ path, synchronous: "normal", driver });
  lease = (await started(store, "a")).lease;
  raw((db) =>
    db.exec("CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0))"),
  );
});
afterEach(() => store.close());

function raw<Result>(act: (db: DatabaseSync) => Result): Result {
  const db = new DatabaseSync(path);
  try {
    return act(db);
  } finally {
    db.close();
  }
}

const accounts = (): unknown[] => raw((db) => db.prepare("SELECT * FROM account ORDER BY name").all());

function mutate(...mutations: Mutation[]): Promise<CommitOutcome> {
  const request = commit(lease, boundary(1, { steps: [completed(1)] }), {
    mutations: { serviceCalls: [], mutate: mutations },
  });
  return write(store, request, at(1));
}

const insert =
  (name: string, balance = 1): Mutation =>
  (db: DatabaseSync) =>
    db.prepare("INSERT INTO account (name, balance) VALUES (?, ?)").run(name, balance);

test("the handle is Node's own database object, with all it can do", async () => {
  const outcome = await mutate((db: DatabaseSync) => {
    expect(db).toBeInstanceOf(DatabaseSync);
    expect(db.isTransaction).toBe(true);
    db.exec("INSERT INTO account VALUES ('ann', 1); INSERT INTO account VALUES ('bob', 2)");
    const rows = db.prepare("SELECT name FROM account WHERE balance > :least").all({ least: 1 });
    expect(rows).toEqual([{ name: "bob" }]);
    db.exec("SAVEPOINT mine; DELETE FROM account; ROLLBACK TO mine; RELEASE mine");
  });
  expect(outcome.kind).toBe("committed");
  expect(accounts()).toHaveLength(2);
  expect(await stepsOf(store, lease.runId)).toEqual([completed(1)]);
});

test("a unique violation is a conflict, undoes everything and leaves the lease", async () => {
  raw((db) => db.exec("INSERT INTO account VALUES ('ann', 1)"));
  const before = await snapshot(store, "a");
  const outcome = await mutate(insert("bob"), insert("ann"));
  expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true, error: { errcode: 1555 } });
  expect(accounts()).toEqual([{ name: "ann", balance: 1 }]);
  expect(await snapshot(store, "a")).toEqual(before);
  expect(await mutate(insert("bob"))).toMatchObject({ kind: "committed" });
});

test("a unique violation that a query builder has wrapped is still a conflict", async () => {
  const outcome = await mutate(insert("ann"), (db) => {
    try {
      insert("ann")(db);
    } catch (cause) {
      throw new Error("Failed query: insert into account", { cause });
    }
  });
  expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true });
});

test("another rule that is broken, and any other error, is the author's failure and no conflict", async () => {
  expect(await mutate(insert("ann", -1))).toMatchObject({ kind: "mutation-failed", conflict: false });
  const mine = new Error("no such customer");
  const thrown = await mutate(insert("ann"), () => {
    throw mine;
  });
  expect(thrown).toEqual({ kind: "mutation-failed", conflict: false, error: mine });
  expect(await mutate((db: DatabaseSync) => db.exec("INSERT INTO nowhere VALUES (1)"))).toMatchObject({
    kind: "mutation-failed",
    conflict: false,
  });
  expect(accounts()).toEqual([]);
  expect(await stepsOf(store, lease.runId)).toEqual([]);
});

test("a mutation that returns a promise is refused, and its later failure harms nobody", async () => {
  const outcome = await mutate(insert("ann"), async () => {
    throw new Error("much too late");
  });
  expect(outcome).toMatchObject({
    kind: "mutation-failed",
    conflict: false,
    error: { code: "MUTATION_INVALID", message: expect.stringContaining("synchronous") },
  });
  expect(accounts()).toEqual([]);
});

describe("the transaction belongs to the store", () => {
  test.each(["BEGIN", "commit", "  END", "-- a note\nROLLBACK", "/* a note */ ROLLBACK", ";COMMIT"])(
    "%j is refused",
    async (sql) => {
      const outcome = await mutate(insert("ann"), (db: DatabaseSync) => db.exec(sql));
      expect(outcome).toMatchObject({ kind: "mutation-failed", error: { code: "MUTATION_INVALID" } });
      const prepared = await mutate(insert("ann"), (db: DatabaseSync) => db.prepare(sql).run());
      expect(prepared).toMatchObject({ kind: "mutation-failed", error: { code: "MUTATION_INVALID" } });
      expect(accounts()).toEqual([]);
    },
  );

  test("a refusal that the author swallows still leaves the transaction whole", async () => {
    const outcome = await mutate(insert("ann"), (db: DatabaseSync) => {
      try {
        db.exec("ROLLBACK");
      } catch {}
    });
    expect(outcome.kind).toBe("committed");
    expect(accounts()).toHaveLength(1);
  });

  test.each(["SELECT 1; COMMIT", "SELECT 1; ROLLBACK", "SELECT 1; ROLLBACK; BEGIN IMMEDIATE"])(
    "%j is found out afterwards, and the step is not recorded",
    async (sql) => {
      const outcome = await mutate((db: DatabaseSync) => db.exec(sql));
      expect(outcome).toMatchObject({
        kind: "mutation-failed",
        conflict: false,
        error: { code: "MUTATION_INVALID", message: expect.stringContaining("ended the transaction") },
      });
      expect(await stepsOf(store, lease.runId)).toEqual([]);
      expect(engineHandle().isTransaction).toBe(false);
      expect(await mutate(insert("ann"))).toMatchObject({ kind: "committed" });
    },
  );

  test("the database cannot be closed, and the handle is dead afterwards", async () => {
    expect(await mutate((db: DatabaseSync) => db.close())).toMatchObject({
      error: { code: "MUTATION_INVALID" },
    });
    let kept: DatabaseSync | undefined;
    await mutate((db: DatabaseSync) => {
      kept = db;
    });
    expect(() => kept?.exec("DELETE FROM account")).toThrow(/after the mutation had returned/);
  });
});

test("a full disk in an author's statement is the store's failure, not the author's", async () => {
  const pages = engineHandle().prepare("PRAGMA page_count").get()?.page_count;
  engineHandle().exec(`PRAGMA max_page_count = ${pages}`);
  await expect(mutate(insert("x".repeat(100_000)))).rejects.toMatchObject({ code: "STORE_FULL" });
  engineHandle().exec("PRAGMA max_page_count = 1000000");
  expect(await mutate(insert("ann"))).toMatchObject({ kind: "committed" });
});

test("a call to the store from within a mutation waits until the transaction is over", async () => {
  let inner: Promise<unknown> | undefined;
  const outcome = await mutate(insert("ann"), () => {
    inner = store.write([create("b")], at(1));
  });
  expect(outcome.kind).toBe("committed");
  expect(await inner).toMatchObject([{ kind: "created" }]);
  expect(await store.getInstance(ref("b"))).toMatchObject({ status: "active" });
});

test("a commit with mutations shares its write with nobody", async () => {
  const request = commit(lease, boundary(1), { mutations: { serviceCalls: [], mutate: [insert("ann")] } });
  await expect(store.write([request, create("b")], at(1))).rejects.toMatchObject({
    code: "MUTATION_INVALID",
  });
  expect(accounts()).toEqual([]);
});

test("mutations of a commit that is refused or repeated do not run", async () => {
  const request = commit({ ...lease, token: 99 }, boundary(1), {
    mutations: { serviceCalls: [], mutate: [insert("ann")] },
  });
  expect((await write(store, request, at(1))).kind).toBe("superseded");
  expect(accounts()).toEqual([]);
  expect((await mutate(insert("ann"))).kind).toBe("committed");
  expect((await mutate(insert("ann"))).kind).toBe("committed");
  expect(accounts()).toHaveLength(1);
});
