import { expect, test } from "vitest";
import { columnNames } from "../schema/table.ts";
import { runColumns } from "./run-row.ts";

test("rows of runs have every column of their table, each once", () => {
  expect([...runColumns].sort()).toEqual([...columnNames("run")].sort());
});
