/** Statements about many rows of values: one for all of them, or, where that costs less, one for each with the same text. */
import type { RowsStatement, RowValues } from "../dialect.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect } from "./dialect.ts";

/** The text reaches them as the table `v`. It is made once, so that what is kept under it is found fast. */
export function aboutEach(
  dialect: ReadDialect,
  columns: readonly string[],
  textOf: (given: string) => string,
  selected?: readonly string[],
): (rows: readonly RowValues[]) => readonly Statement[] {
  const given = dialect.parameters("v", columns);
  let last = "";
  let text = "";
  const about = (rows: readonly RowValues[]): Statement => {
    const { sql, values } = given(rows);
    if (sql !== last) {
      last = sql;
      text = textOf(sql);
    }
    return { sql: text, values, ...(selected === undefined ? {} : { columns: selected }) };
  };
  return (rows) => {
    if (dialect.oneByOne) return rows.map((row) => about([row]));
    return rows.length === 0 ? [] : [about(rows)];
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
