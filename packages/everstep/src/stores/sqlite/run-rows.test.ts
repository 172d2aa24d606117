import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applyCreate } from "../../store/apply/apply-create.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import { WorkingSet } from "../../store/apply/working-set.ts";
import { completed, create, never } from "../../testing/store-contract/given.ts";
import { readOptions } from "./options.ts";
import { type RunRows, runRows } from "./save.ts";
import { type Connection, openConnection } from "./session.ts";

let connection: Connection;
let rows: RunRows;
const texts: string[] = [];

beforeEach(async () => {
  ({ connection } = await openConnection(readOptions(":memory:")));
  const { db } = connection;
  const prepare: typeof db.prepare = (sql) => {
    texts.push(sql);
    return db.prepare(sql);
  };
  rows = runRows({ ...connection, db: { ...db, prepare } });
});
afterEach(() => connection.db.close());

function firstRun(facts: Parameters<typeof create>[1]): RunRow {
  const set = new WorkingSet(() => 1);
  applyCreate(set, create("a", facts), 5);
  return set.runs.get(1)?.row as RunRow;
}

const stored = () => (connection.db.handle as DatabaseSync).prepare("SELECT * FROM everstep_run").all();

test.each([
  ["that is due", {}],
  ["that somebody holds", { lease: { owner: "me", token: 3, until: never } }],
  ["with a history", { history: [completed(1)] }],
])("a first run %s is written alike either way", (_name, facts) => {
  const row = firstRun(facts);
  rows.insert(row);
  const whole = stored();
  connection.db.exec("DELETE FROM everstep_run");
  rows.insertFirst(row);
  expect(stored()).toEqual(whole);
});

test("an update writes what has changed and nothing else", () => {
  connection.db.exec(
    "INSERT INTO everstep_instance (id, workflow, instance_id, run, created_at, params) VALUES (1, 'order', 'a', 1, 0, '1')",
  );
  rows.insert(firstRun({}));
  const { row, before } = rows.byRun(1) ?? expect.fail();
  texts.length = 0;
  rows.update(row, before);
  rows.update({ ...row, eventSeq: 3, recorded: true }, before);
  rows.update({ ...row, eventSeq: 4, recorded: true }, before);
  expect(texts).toEqual(["UPDATE everstep_run SET event_seq = ?, recorded = ? WHERE id = ?"]);
  expect(rows.byName("order", "a")?.row).toEqual({ ...row, eventSeq: 4, recorded: true });
});
