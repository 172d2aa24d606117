import { expect, test } from "vitest";
import type { Migration } from "./migration.ts";
import { type SchemaDialect, withAdditions } from "./schema-text.ts";
import type { Addition, TableNames } from "./table.ts";

const dialect = {
  types: { integer: "INT", workflow: "NAME", payload: "TEXT" },
  countsFromZero: true,
  keysAreNotNull: true,
} as unknown as SchemaDialect;
const names = { instance: "app.instance", ending: "app.ending" } as TableNames;
const deadline: Addition = { table: "instance", columns: ["deadline_at", "parent_workflow"] };
const reason: Addition = { table: "ending", columns: ["reason"] };

const own = (version: number, oldestCompatible = 1): Migration<TableNames> => ({
  version,
  oldestCompatible,
  statements: () => [`own ${version}`],
});

function told(migrations: readonly Migration<TableNames>[]): unknown {
  return migrations.map(({ version, oldestCompatible, statements }) => [
    version,
    oldestCompatible,
    ...statements(names),
  ]);
}

test("each addition is the next migration, and older code still gets on with it", () => {
  expect(told(withAdditions([own(1), own(2, 2)], dialect, [deadline, reason]))).toEqual([
    [1, 1, "own 1"],
    [2, 2, "own 2"],
    [
      ...[3, 2, "ALTER TABLE app.instance ADD COLUMN deadline_at INT"],
      "ALTER TABLE app.instance ADD COLUMN parent_workflow NAME",
    ],
    [4, 2, "ALTER TABLE app.ending ADD COLUMN reason TEXT"],
  ]);
});

test("a migration of a dialect's own that comes after an addition leaves it its version", () => {
  expect(told(withAdditions([own(1), own(3)], dialect, [reason, deadline]))).toMatchObject([
    [1, 1, "own 1"],
    [2, 1, "ALTER TABLE app.ending ADD COLUMN reason TEXT"],
    [3, 1, "own 3"],
    [
      4,
      1,
      "ALTER TABLE app.instance ADD COLUMN deadline_at INT",
      "ALTER TABLE app.instance ADD COLUMN parent_workflow NAME",
    ],
  ]);
});

test("a column that rows of before cannot have is refused", () => {
  expect(() => withAdditions([own(1)], dialect, [{ table: "instance", columns: ["created_at"] }])).toThrow(
    "must be nullable",
  );
});
