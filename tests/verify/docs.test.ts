/** What docs/verify.md lists is what there is. */
import { execFile } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const page = readFileSync("docs/verify.md", "utf8");
const folder = "packages/everstep/src/verify";
const source = (file: string): string => readFileSync(`${folder}/${file}`, "utf8");

/** The first cells of the table below a heading. */
function listed(heading: string): readonly string[] {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const cells = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = ""]) => cell.replaceAll("`", ""));
  return cells.slice(2).sort();
}

/** Every such word in a text, once. */
function words(text: string, pattern: RegExp): readonly string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, word = ""]) => word))].sort();
}

test("the example says what the page says it says", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "everstep-verify-"));
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const program = resolve("examples/docs/verify.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program], { cwd });
  rmSync(cwd, { recursive: true, force: true });
  expect(stdout).toBe(/^```text\n([\s\S]*?)^```$/m.exec(page)?.[1]);
});

test("the invariants are those the rules name", () => {
  const rules = globSync(`${folder}/rules/*.ts`).filter((file) => !/kept-|\.test\./.test(file));
  const code = [...rules.map((file) => readFileSync(file, "utf8")), source("tally.ts")].join("\n");
  expect(listed("Invariants")).toEqual(words(code, /"(INV-\d+)"/g));
});

test("the kinds of warnings are all there", () => {
  const kinds = source("liveness.ts").split("export type Liveness")[1]?.split("\n\n")[0] ?? "";
  expect(listed("Warnings")).toEqual([...words(kinds, /\| "([a-z-]+)"/g), "doubtful"].sort());
});

test("so are the explanations of doubts", () => {
  const union = source("violation.ts").split("export type Explanation")[1]?.split("\n\n")[0] ?? "";
  expect(listed("Doubts")).toEqual(words(union, /\| "([a-z-]+)"/g));
});
