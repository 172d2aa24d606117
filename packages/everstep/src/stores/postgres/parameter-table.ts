/**
 * Rows that travel with a statement. A single row is a row of plain values, which the server plans and runs like any
 * constants; of more, every column is one array, so that a text fits any number of them.
 */
import type { SqlValue } from "../sql/rows/row.ts";
import { columnType, type Table } from "../sql/schema/table.ts";
import { integerArray, textArray } from "./array-parameter.ts";

export interface Column<Row> {
  readonly name: string;
  readonly isText: boolean;
  of(row: Row): SqlValue;
}

/** The type follows from the name. */
export function column<Row>(name: string, of: (row: Row) => SqlValue, table?: Table): Column<Row> {
  return { name, isText: columnType(name, table) === "text", of };
}

/** Columns of rows that are lists already. */
export function columnsAt(names: readonly string[], table?: Table): readonly Column<readonly SqlValue[]>[] {
  return names.map((name, at) => column(name, (row: readonly SqlValue[]) => row[at] ?? null, table));
}

/**
 * As a table to read from, with the number its first parameter has. `only`: the columns that are wanted, where they are
 * fewer than were given.
 */
export function tableText<Row>(
  alias: string,
  columns: readonly Column<Row>[],
  isMany: boolean,
  first: number,
  only?: readonly string[],
): string {
  const numbered = columns.map(({ name, isText }, n) => {
    const type = isText ? "text" : "bigint";
    return { name, parameter: `$${first + n}::${isMany ? `${type}[]` : type}` };
  });
  const wanted = numbered.filter(({ name }) => only === undefined || only.includes(name));
  return isMany
    ? `unnest(${wanted.map(({ parameter }) => parameter).join(", ")}) AS ${alias} (${wanted.map(({ name }) => name).join(", ")})`
    : `(SELECT ${wanted.map(({ name, parameter }) => `${parameter} AS ${name}`).join(", ")}) AS ${alias}`;
}

/**
 * A row of a table for every given one. As a plain equation it could be read from the table's side too, whole and in
 * order; like this there is only the other way.
 */
export function sameKey(key: string, given: string, isMany: boolean): string {
  return isMany ? `${key} = ANY (ARRAY[${given}])` : `${key} = ${given}`;
}

export function tableValues<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  isMany: boolean,
): readonly unknown[] {
  if (!isMany) return columns.map(({ of }) => of(rows[0] as Row));
  return columns.map(({ isText, of }) =>
    isText
      ? textArray(rows.map((row) => of(row) as string | null))
      : integerArray(rows.map((row) => of(row) as number | null)),
  );
}
