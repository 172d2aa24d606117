/** Ids of runs: they only grow and are never used again. Each process takes them from the database a block at a time. */

import { integer } from "./row.ts";
import type { Database } from "./session.ts";
import type { TableNames } from "./table.ts";

export interface RunIds {
  /** As many ids for the caller alone. Those it does not use may be given back. */
  take(count: number): Promise<number[]>;
  giveBack(ids: readonly number[]): void;
}

const blockSize = 1000;

export function runIds(database: Database, names: TableNames): RunIds {
  let spare: number[] = [];

  // The row is locked by the first statement, so the second reads what the first wrote.
  const reserve = async (count: number): Promise<number[]> => {
    const sql = `UPDATE ${names.meta} SET value = value + ? WHERE name = 'last_run'`;
    const [, read] = await database.transact((tx) =>
      tx.commit([
        { sql, values: [count] },
        { sql: `SELECT m.value FROM ${names.meta} m WHERE m.name = 'last_run'`, values: [] },
      ]),
    );
    const last = integer(read?.rows[0] ?? {}, "value");
    return Array.from({ length: count }, (_unused, n) => last - count + 1 + n);
  };

  return {
    async take(count) {
      while (spare.length < count) {
        const block = await reserve(Math.max(blockSize, count));
        spare = [...spare, ...block].sort((a, b) => a - b);
      }
      return spare.splice(0, count);
    },
    giveBack(ids) {
      if (ids.length > 0) spare = [...ids, ...spare].sort((a, b) => a - b);
    },
  };
}
