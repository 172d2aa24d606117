/**
 * The little that the store needs from an SQLite library. Everything is synchronous but opening, so that whatever
 * library the runtime has (node:sqlite, bun:sqlite, better-sqlite3, a Durable Object's storage) fits behind it.
 */
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";

export interface SqliteDriver {
  open(path: string, options: SqliteOpenOptions): Promise<SqliteDatabase>;
  /** Makes a database object of the library's own usable; undefined when the value is none. */
  adopt(handle: unknown): SqliteDatabase | undefined;
  /** SQLite's extended result code of an error it raised; undefined for every other error. */
  resultCode(error: unknown): number | undefined;
}

export interface SqliteOpenOptions {
  readonly busyTimeoutMs: number;
  /** False: fail when there is no such file. */
  readonly create: boolean;
}

export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement<SqlRow>;
  /** The same, with rows as arrays: cheaper, for the hottest reads. */
  prepareTuples(sql: string): SqliteStatement<readonly unknown[]>;
  readonly isTransaction: boolean;
  /** The library's own database object; what authors' mutations get to see. */
  readonly handle: object;
  close(): void;
}

/** Values are bound to `?` in order; numbered and named parameters are not used, libraries disagree about them. */
export interface SqliteStatement<Row> {
  run(...values: readonly SqlValue[]): { readonly changes: number };
  get(...values: readonly SqlValue[]): Row | undefined;
  all(...values: readonly SqlValue[]): readonly Row[];
}
