/** What stands between the brackets of a CREATE TABLE, from the description of the table's columns. */
import { type Column, columnsOf, type Kind, primaryKeys, type Table } from "./table.ts";

export interface SchemaDialect {
  readonly types: Readonly<Record<Kind, string>>;
  readonly quoted?: (column: string) => string;
  /** Counts begin with 0 where a row says nothing else. */
  readonly countsFromZero: boolean;
  /** A primary key is NOT NULL by itself. */
  readonly keysAreNotNull: boolean;
}

export interface TableText {
  /** Where it is not that of the description. */
  readonly order?: readonly string[];
  /** Columns that only this database has, or has in its own way; the former come first unless there is an order. */
  readonly own?: Readonly<Record<string, string>>;
  readonly primaryKey?: readonly string[];
}

export function columnTexts(
  dialect: SchemaDialect,
  table: Table,
  { order, own = {}, primaryKey = primaryKeys[table] }: TableText = {},
): readonly string[] {
  const { types, quoted = (column) => column, countsFromZero, keysAreNotNull } = dialect;
  const columns: Readonly<Record<string, Column>> = columnsOf[table];
  const names = order ?? [...Object.keys(own).filter((name) => !(name in columns)), ...Object.keys(columns)];
  const lines = names.map((name) => {
    const column = columns[name];
    const text = own[name];
    if (text !== undefined || column === undefined) return `${quoted(name)} ${text}`;
    const isKey = primaryKey.length === 1 && primaryKey[0] === name;
    const isNotNull = !column.isNullable && !(isKey && keysAreNotNull);
    return (
      `${quoted(name)} ${types[column.kind]}${isNotNull ? " NOT NULL" : ""}` +
      `${column.isCount && countsFromZero ? " DEFAULT 0" : ""}${isKey ? " PRIMARY KEY" : ""}`
    );
  });
  return primaryKey.length < 2 ? lines : [...lines, `PRIMARY KEY (${primaryKey.map(quoted).join(", ")})`];
}
