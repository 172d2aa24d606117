/**
 * The tables, as numbered migrations. Never edit one that was released: add the next.
 *
 * Written for few and small writes: the row every commit touches (run) holds no payload, payloads lie in tables that
 * are written once, and an index holds only the rows somebody looks for, so that finished runs cost nothing.
 */
import type { Migration } from "../sql/schema/migration.ts";
import { columnTexts, type SchemaDialect, type TableText, withAdditions } from "../sql/schema/schema-text.ts";
import { type Table, type TableNames, tables } from "../sql/schema/table.ts";

export function tableNames(namespace: string): TableNames {
  return Object.fromEntries(tables.map((table) => [table, `${namespace}_${table}`])) as TableNames;
}

const dialect: SchemaDialect = {
  types: {
    integer: "INTEGER",
    small: "INTEGER",
    workflow: "TEXT",
    instance: "TEXT",
    name: "TEXT",
    id: "TEXT",
    key: "TEXT",
    word: "TEXT",
    payload: "TEXT",
  },
  countsFromZero: true,
  keysAreNotNull: true,
};

export const migrations: readonly Migration<TableNames>[] = withAdditions(
  [
    { version: 1, oldestCompatible: 1, statements: firstSchema },
    { version: 2, oldestCompatible: 1, statements: changeIds },
    { version: 3, oldestCompatible: 1, statements: runnersAndTallies },
  ],
  dialect,
);

/** `more`: constraints. Rows that are found by their primary key alone are kept in its order. */
function created(
  names: TableNames,
  table: Table,
  { more = [], ...text }: TableText & { readonly more?: readonly string[] } = {},
): string {
  const lines = [...columnTexts(dialect, table, text), ...more];
  const hasRowId = lines.some((line) => line.includes("INTEGER PRIMARY KEY"));
  return `CREATE TABLE ${names[table]} (
      ${lines.join(",\n      ")}
    ) STRICT${hasRowId ? "" : ", WITHOUT ROWID"}`;
}

function runnersAndTallies(names: TableNames): readonly string[] {
  return [
    created(names, "runner"),
    `CREATE INDEX ${names.runner}_seen ON ${names.runner} (seen_at)`,
    created(names, "tally"),
  ];
}

function changeIds(names: TableNames): readonly string[] {
  return [created(names, "change")];
}

function firstSchema(names: TableNames): readonly string[] {
  return [
    created(names, "instance", { more: ["UNIQUE (workflow, instance_id)"] }),
    created(names, "run"),
    `CREATE INDEX ${names.run}_claim ON ${names.run} (workflow, lane, due_at) WHERE lane IS NOT NULL`,
    `CREATE INDEX ${names.run}_list ON ${names.run} (workflow, status, created_at, instance)
      WHERE is_current = 1`,
    `CREATE INDEX ${names.run}_dead_letter ON ${names.run} (workflow, created_at, instance)
      WHERE is_current = 1 AND dead_letter = 1`,
    `CREATE INDEX ${names.run}_prune ON ${names.run} (prune_at, instance) WHERE prune_at IS NOT NULL`,
    // First runs are found by the instance's own id.
    `CREATE UNIQUE INDEX ${names.run}_later ON ${names.run} (instance, run_number) WHERE run_number > 1`,
    created(names, "ending"),
    created(names, "step"),
    `CREATE INDEX ${names.step}_open ON ${names.step} (run) WHERE is_open = 1`,
    `CREATE INDEX ${names.step}_topic ON ${names.step} (topic) WHERE is_open = 1 AND topic IS NOT NULL`,
    created(names, "event", { own: { id: "TEXT NOT NULL UNIQUE" } }),
    created(names, "log"),
    created(names, "publication", {
      own: { seq: "INTEGER PRIMARY KEY", id: "TEXT NOT NULL UNIQUE" },
      primaryKey: ["seq"],
    }),
    `CREATE INDEX ${names.publication}_age ON ${names.publication} (created_at)`,
  ];
}
