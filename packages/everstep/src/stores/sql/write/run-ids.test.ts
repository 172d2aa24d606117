import { expect, test } from "vitest";
import type { TableNames } from "../schema/table.ts";
import type { Database, Transaction } from "../session.ts";
import { lookAgain } from "./look-again.ts";
import { runIds } from "./run-ids.ts";

/** A counter in a database, and how often it was asked. */
function counter(): { database: Database; asked: () => number; restore: () => void } {
  let value = 0;
  let asked = 0;
  const commit: Transaction["commit"] = async ([update]) => {
    asked += 1;
    const [least, , count] = (update?.values ?? []) as [number, number, number];
    value = Math.max(value, least) + count;
    const read = value;
    await Promise.resolve();
    return [
      { rows: [], changes: 1 },
      { rows: [{ value: String(read) }], changes: 0 },
    ];
  };
  const transact = (work: (tx: Transaction) => Promise<unknown>) => work({ commit } as Transaction);
  const restore = () => {
    value = 0;
  };
  return { database: { transact } as Partial<Database> as Database, asked: () => asked, restore };
}

const dialect = { names: { meta: "meta" } as TableNames, anyGap: "0" };

test("ids grow and come in blocks, one question each", async () => {
  const { database, asked } = counter();
  const ids = runIds(database, dialect);
  const taken: number[] = [];
  for (let n = 0; n < 30; n += 1) taken.push(...(await ids.take(50)));
  expect(taken).toEqual(taken.toSorted((a, b) => a - b));
  expect(new Set(taken).size).toBe(1500);
  expect(asked()).toBe(2);
});

test("many who ask at once share a block, and none gets another's id", async () => {
  const { database, asked } = counter();
  const ids = runIds(database, dialect);
  const taken = await Promise.all(Array.from({ length: 100 }, () => ids.take(7)));
  expect(new Set(taken.flat()).size).toBe(700);
  expect(asked()).toBe(1);
});

test("two processes never get the same", async () => {
  const { database } = counter();
  const [one, two] = [runIds(database, dialect), runIds(database, dialect)];
  const taken = [...(await one.take(3)), ...(await two.take(3)), ...(await one.take(3))];
  expect(new Set(taken).size).toBe(9);
});

test("more than a block holds is one block of its own", async () => {
  const { database } = counter();
  expect(await runIds(database, dialect).take(2500)).toHaveLength(2500);
});

test("what is given back is used again only by who comes next, so that ids keep growing", async () => {
  const { database } = counter();
  const ids = runIds(database, dialect);
  const [, second, third] = await ids.take(3);
  ids.giveBack([second as number, third as number]);
  expect(await ids.take(2)).toEqual([second, third]);
  const [gap] = await ids.take(2);
  ids.giveBack([gap as number]);
  expect((await ids.take(1))[0]).toBeGreaterThan(gap as number);
});

test("a block that is left has no ids any more", async () => {
  const { database, asked } = counter();
  const ids = runIds(database, dialect);
  expect(await ids.take(2)).toEqual([1, 2]);
  ids.leaveBlock();
  ids.leaveBlock();
  expect(await ids.take(2)).toEqual([1001, 1002]);
  expect(asked()).toBe(2);
});

test("blocks lie apart, so that a database that lost its newest writes does not give the same ids again", async () => {
  const asked: string[] = [];
  const commit: Transaction["commit"] = async ([update]) => {
    asked.push(update?.sql ?? "");
    return [
      { rows: [], changes: 1 },
      { rows: [{ value: "5000" }], changes: 0 },
    ];
  };
  const transact = (work: (tx: Transaction) => Promise<unknown>) => work({ commit } as Transaction);
  const database = { transact } as Partial<Database> as Database;
  expect(await runIds(database, { ...dialect, anyGap: "any_gap()" }).take(2)).toEqual([4001, 4002]);
  expect(asked).toEqual([
    "UPDATE meta SET value = (CASE WHEN value < ? THEN ? ELSE value END) + ? + any_gap() WHERE name = 'last_run'",
  ]);
});

test("a database that lost many blocks is asked once, and ids go on behind those that are known", async () => {
  const { database, asked, restore } = counter();
  const ids = runIds(database, dialect);
  for (let n = 0; n < 50; n += 1) await ids.take(1000);
  const before = asked();
  restore();
  expect(await ids.take(2)).toEqual([50_001, 50_002]);
  expect(asked()).toBe(before + 1);
});

test("whoever takes ids at the same moment on another node of a cluster is asked again", async () => {
  const { database } = counter();
  let refusals = 2;
  const transact: Database["transact"] = (work) =>
    refusals-- > 0 ? Promise.reject(lookAgain()) : database.transact(work);
  expect(await runIds({ ...database, transact }, dialect).take(3)).toEqual([1, 2, 3]);
});
