/**
 * Ids of runs: they only grow and are never used again. Each process takes them from the database a block at a time. A
 * database that lost its newest writes (an asynchronous failover, a restored backup) must not give out again what it gave
 * before, so before every block there is a gap of any length.
 */
import type { Dialect } from "../dialect.ts";
import { integer } from "../rows/row.ts";
import type { Database } from "../session.ts";
import { repeatedly } from "./look-again.ts";

export interface RunIds {
  /** As many ids for the caller alone, growing. */
  take(count: number): Promise<number[]>;
  /** Those nobody has used. Kept for the next only while that keeps later runs behind earlier ones. */
  giveBack(ids: readonly number[]): void;
  /** What is left of the block lies where ids are in use: the next ones come from another. */
  leaveBlock(): void;
}

interface Block {
  readonly first: number;
  readonly last: number;
}

const blockSize = 1000;

/** Room for a thousand million blocks. */
export const runIdGapMax = 2 ** 24 - 1;

export function runIds(database: Database, dialect: Pick<Dialect, "names" | "anyGap">): RunIds {
  const { meta } = dialect.names;
  let next = 1;
  let last = 0;
  let reserving: Promise<Block> | undefined;

  // The row is locked by the first statement, so the second reads what the first wrote. What it lost may be many blocks: it
  // goes on behind the last one that is known here, in one step.
  const reserve = async (count: number): Promise<Block> => {
    const statements = [
      {
        sql:
          `UPDATE ${meta} SET value = (CASE WHEN value < ? THEN ? ELSE value END) + ? + ${dialect.anyGap} ` +
          "WHERE name = 'last_run'",
        values: [last, last, count],
      },
      { sql: `SELECT m.value FROM ${meta} m WHERE m.name = 'last_run'`, values: [] },
    ];
    const [, read] = await repeatedly(() => database.transact((tx) => tx.commit(statements)));
    const value = integer(read?.rows[0] ?? {}, "value");
    return { first: value - count + 1, last: value };
  };

  /** All who wait get their ids of one block, which has enough for the first of them. */
  const refill = async (count: number): Promise<void> => {
    reserving ??= reserve(Math.max(blockSize, count)).finally(() => {
      reserving = undefined;
    });
    const block = await reserving;
    // Others who waited for it may have begun it.
    if (block.first > last) {
      next = block.first;
      last = block.last;
    }
  };

  return {
    async take(count) {
      while (last - next + 1 < count) await refill(count);
      const first = next;
      next += count;
      return Array.from({ length: count }, (_unused, n) => first + n);
    },
    giveBack(ids) {
      for (const id of ids.toSorted((a, b) => b - a)) {
        if (id !== next - 1) return;
        next = id;
      }
    },
    leaveBlock() {
      next = last + 1;
    },
  };
}
