import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UsageError } from "../../problems.ts";
import { findFile } from "./find-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "everstep-find-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
}

test.each([
  [["workflows.ts"], "workflows.ts"],
  [["src/workflows.js", "src/everstep.ts"], "src/workflows.js"],
  [["everstep.mts", "src/workflows.ts"], "everstep.mts"],
  [["workflows/index.ts", "workflows/order.ts"], "workflows/index.ts"],
  [["src/workflows/index.mjs"], "src/workflows/index.mjs"],
])("of %j %s is taken", (names, found) => {
  put(...names);
  expect(findFile(folder, undefined)).toBe(join(folder, found));
});

test("a file that is named is taken, wherever it is, and of a folder its index", () => {
  put("jobs/orders.ts", "jobs/index.ts", "workflows.ts");
  expect(findFile(folder, "jobs/orders.ts")).toBe(join(folder, "jobs/orders.ts"));
  expect(findFile(folder, "jobs")).toBe(join(folder, "jobs/index.ts"));
});

test("where nothing is, it says what was looked for", () => {
  expect(() => findFile(folder, undefined)).toThrow(
    /Looked for workflows, everstep, workflows\/index, src\/workflows, src\/everstep, src\/workflows\/index \(\.ts, /,
  );
});

test("a name that does not exist is answered with one that does", () => {
  put("orders.ts", "empty/note.txt");
  const problem = thrownBy(() => findFile(folder, "order.ts"));
  expect(problem.message).toBe("There is no file order.ts.");
  expect(problem.hint).toBe("Did you mean orders.ts?");
  expect(thrownBy(() => findFile(folder, "empty")).message).toContain("is a folder without an index.ts");
});

function thrownBy(act: () => unknown): UsageError {
  try {
    act();
  } catch (error) {
    if (error instanceof UsageError) return error;
  }
  throw new Error("It threw nothing of ours.");
}
