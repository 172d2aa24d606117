/** Columns as they stand in statements that make or change tables, from the description of them. */
import type { Migration } from "./migration.ts";
import {
  type Addition,
  additions,
  type Column,
  columnsOf,
  type Kind,
  primaryKeys,
  type Table,
  type TableNames,
} from "./table.ts";

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

/** What stands between the brackets of a CREATE TABLE. */
export function columnTexts(
  dialect: SchemaDialect,
  table: Table,
  { order, own = {}, primaryKey = primaryKeys[table] }: TableText = {},
): readonly string[] {
  const { quoted = (column) => column } = dialect;
  const columns: Readonly<Record<string, Column>> = columnsOf[table];
  const later = new Set(additions.flatMap((each) => (each.table === table ? each.columns : [])));
  const first = Object.keys(columns).filter((name) => !later.has(name));
  const names = order ?? [...Object.keys(own).filter((name) => !(name in columns)), ...first];
  const lines = names.map((name) => {
    const column = columns[name];
    const text = own[name];
    if (text !== undefined || column === undefined) return `${quoted(name)} ${text}`;
    return columnText(dialect, name, column, primaryKey.length === 1 && primaryKey[0] === name);
  });
  return primaryKey.length < 2 ? lines : [...lines, `PRIMARY KEY (${primaryKey.map(quoted).join(", ")})`];
}

function columnText(dialect: SchemaDialect, name: string, column: Column, isKey: boolean): string {
  const { types, quoted = (column) => column, countsFromZero, keysAreNotNull } = dialect;
  const isNotNull = !column.isNullable && !(isKey && keysAreNotNull);
  return (
    `${quoted(name)} ${types[column.kind]}${isNotNull ? " NOT NULL" : ""}` +
    `${column.isCount && countsFromZero ? " DEFAULT 0" : ""}${isKey ? " PRIMARY KEY" : ""}`
  );
}

/**
 * A dialect's own migrations and those that add columns to its tables. An addition has the first version that the dialect
 * leaves free: one of its own that comes after an addition leaves a gap for it.
 */
export function withAdditions(
  own: readonly Migration<TableNames>[],
  dialect: SchemaDialect,
  added: readonly Addition[] = additions,
): readonly Migration<TableNames>[] {
  const migrations = [...own];
  for (const { table, columns } of added) {
    let version = 1;
    while (migrations.some((taken) => taken.version === version)) version += 1;
    const before = migrations.find((earlier) => earlier.version === version - 1);
    const texts = columns.map((name) => addedText(dialect, table, name));
    migrations.push({
      version,
      oldestCompatible: before?.oldestCompatible ?? version,
      statements: (names) => texts.map((text) => `ALTER TABLE ${names[table]} ADD COLUMN ${text}`),
    });
  }
  return migrations.sort((a, b) => a.version - b.version);
}

function addedText(dialect: SchemaDialect, table: Table, name: string): string {
  const column = (columnsOf[table] as Readonly<Record<string, Column>>)[name];
  if (!column?.isNullable)
    throw new Error(`The column ${name} came after its table ${table}: it must be nullable.`);
  return columnText(dialect, name, column, false);
}
