/** What simulation.md shows as printed is what its examples print, and its tables hold what the code holds. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { defaultFaults } from "../packages/everstep/src/testing/simulate/own/faults.ts";
import { readOptions } from "../packages/everstep/src/testing/simulate/own/read-options.ts";

const run = promisify(execFile);
const page = readFileSync("docs/simulation.md", "utf8");
const printed = [...page.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text.trimEnd());

test.each([
  ["simulation-charge", 0],
  ["simulation-stock", 1],
])("what %s prints is on the page", async (example, at) => {
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, [...flags, `examples/docs/${example}.ts`], { env });
  // How much it took to make it smaller is worth nobody's memory.
  const plain = (text: string): string => text.replace(/made smaller from \d+ in \d+ worlds/, "made smaller");
  expect(plain(stdout)).toContain(plain(printed[at] ?? expect.fail("the page has no such text")));
});

test("the faults and their defaults are those of the code", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (on|off) \|/gm)].map(([, name, state]) => [
    name,
    state === "on",
  ]);
  expect(Object.fromEntries(rows)).toEqual(defaultFaults);
});

test("the options are those of the code, and no other", () => {
  const table = page.slice(page.indexOf("## Options"), page.indexOf("## Limits"));
  const named = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/\w+/g)].map(String),
  );
  const refused = (): unknown => readOptions({ A: {} }, { nonsense: true } as never);
  expect(refused).toThrow(`There are: `);
  const message = String(errorOf(refused));
  const known = (/There are: (.+)\./.exec(message)?.[1] ?? "").split(", ");
  expect(named.sort()).toEqual(known.sort());
});

function errorOf(code: () => unknown): unknown {
  try {
    return code();
  } catch (error) {
    return error;
  }
}
