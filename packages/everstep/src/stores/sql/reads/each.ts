/** Statements about many rows of values: one for all of them, or, where that costs less, one for each with the same text. */
import type { RowsStatement, RowValues } from "../dialect.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect } from "./dialect.ts";

/**
 * What stands behind FROM, before the first table, and how the text reaches a value: each of them once, in the order of the
 * columns.
 */
export interface Given {
  readonly from: string;
  value(column: string): string;
}

export function eachKey(
  dialect: ReadDialect,
  columns: readonly string[],
  textOf: (given: Given) => string,
  /** What it selects, where it selects one row for each key. */
  selected?: readonly string[],
): (rows: readonly RowValues[]) => readonly Statement[] {
  if (dialect.oneByOne) {
    const sql = textOf({ from: "", value: () => "?" });
    return (rows) =>
      rows.map((values) => ({ sql, values, columns: selected, isOne: selected !== undefined }));
  }
  const given = dialect.parameters("v", columns);
  return (rows) => {
    if (rows.length === 0) return [];
    const { sql, values } = given(rows);
    const text = textOf({ from: `${sql} CROSS JOIN`, value: (column) => `v.${column}` });
    return [{ sql: text, values }];
  };
}

export function eachRow(
  { oneByOne }: ReadDialect,
  statement: RowsStatement,
): (rows: readonly RowValues[]) => readonly Statement[] {
  return (rows) => {
    if (oneByOne) return rows.map((row) => statement([row]));
    return rows.length === 0 ? [] : [statement(rows)];
  };
}
