/**
 * What differs between the server databases. Everything else about them is said once in this folder.
 *
 * Rules for statements written here: parameters are `?`, in order, and a session turns them into what its driver wants;
 * columns are written with the alias of their table (`s.key`), because some databases keep such words for themselves.
 */
import type { ClaimRequest } from "../../store/store.ts";
import type { ReadDialect } from "./reads/dialect.ts";
import type { SqlRow, SqlValue } from "./rows/row.ts";
import type { Table } from "./schema/table.ts";
import type { Database, Statement } from "./session.ts";
import type { SendQuickly } from "./write/quick-send.ts";
import type { ApplyQuickly } from "./write/quick-write.ts";

export interface Dialect extends ReadDialect {
  /** Fails as a whole when a key is taken: "constraint". Rows are inserted in the order given. */
  insert(table: Table, columns: readonly string[]): RowsStatement;

  /**
   * Sets `columns` of the rows with these keys. Rows hold the keys first. `where` reaches the table as `t` and the given
   * row as `v`, which at its end may have columns for `where` alone.
   */
  update(
    table: Table,
    keys: readonly string[],
    columns: readonly string[],
    where?: string,
    compared?: readonly string[],
  ): RowsStatement;

  /** Inserts steps, or replaces the waiting one with the same run and index; what has settled is left alone. */
  putSteps(columns: readonly string[]): RowsStatement;

  /**
   * Inserts rows, or where their keys are taken replaces these columns, or adds to them what is given. Rows hold the keys
   * first.
   */
  put(
    table: Table,
    keys: readonly string[],
    columns: readonly string[],
    how: "replace" | "add",
  ): RowsStatement;

  /** Removes the rows whose `column` is smaller than the only value of the text: so many at most, the smallest first. */
  forget(table: Table, column: string, keys: readonly string[], limit: number): string;

  /** Removes all rows with these keys. */
  remove(table: Table, keys: readonly string[]): RowsStatement;

  /** Ends a SELECT that locks the rows of one of its tables, in the order of the SELECT where the database can. */
  lock(alias: string, busy?: "wait" | "skip"): string;

  /**
   * Where a database locks rows as it finds them and not in the order of the SELECT: how a SELECT begins that reads its
   * tables in the order in which they are written, and a query whose rows come in the order of a column, so that what is
   * joined to them is found and locked in that order; `byKey` stands behind such a table's alias, so that it is never
   * read from end to end, however small it is: every row that is read is locked, and those of others are waited for.
   */
  readonly inOrder?: {
    readonly select: string;
    readonly byKey: string;
    sorted(query: string, column: string): string;
  };

  /**
   * Hands out due runs and gives their rows, in order: `run`, `run_number`, `crash_count` and `started_at` as they are now;
   * `token`, `last_commit` and `waiting_since` as they were before, and whether a lease had run out (`ran_out`);
   * `recorded`, `event_seq`, `begun`; and of the instance, null when it is not there: `workflow`, `instance_id`,
   * `created_at`, `deadline_at`, `params`, `params_marks`.
   */
  claim(database: Database, request: ClaimRequest): Promise<readonly SqlRow[]>;

  /** What stands for a topic in the key of a publication, where an index has no room for every topic; see event-row.ts. */
  readonly scopeOfTopic?: (topic: string) => string;

  /** An expression for any whole number from 0 to `runIdGapMax`; statements of replicas must give the same. */
  readonly anyGap: string;

  /** Where one statement can check fences and write behind them; see quick-write.ts. */
  readonly applyQuickly?: ApplyQuickly;

  /** Where one statement can accept events; see quick-send.ts. */
  readonly sendQuickly?: SendQuickly;
}

export function selectInOrder({ inOrder }: Dialect): string {
  return inOrder?.select ?? "SELECT";
}

/** A table to lock rows of, found by its primary key. */
export function byKey({ inOrder }: Dialect, table: string, alias: string): string {
  return inOrder === undefined ? `${table} ${alias}` : `${table} ${alias} ${inOrder.byKey}`;
}

/** A query in brackets, to read from. */
export function sorted({ inOrder }: Dialect, query: string, column: string): string {
  return `(${inOrder?.sorted(query, column) ?? query})`;
}

/** A text with its values; a text need not be the same for every number of rows. */
export interface Part {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export type RowValues = readonly SqlValue[];

/** For one row at least. */
export type RowsPart = (rows: readonly RowValues[]) => Part;
export type RowsStatement = (rows: readonly RowValues[]) => Statement;
