import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isTest, nodesOf, parseSource, placeOf, readSources, type SourceFile } from "./source-tree.ts";

// V8 misreads keys that are written with escapes (decisions/0023). Only the door that works around it may use JSON.parse,
// and nobody may use what does the same in other words.
const libraries = ["packages/everstep/src", "packages/dashboard/src"];
const theDoor = "model/json.ts";

test("only model/json.ts reads JSON", () => {
  const files = libraries
    .flatMap((library) => readSources(library))
    .filter((file) => !isTest(file) && file.path !== theDoor);
  expect(files.flatMap(waysAroundIt)).toEqual([]);
});

test("nor does a component of the dashboard", () => {
  const folder = "packages/dashboard/src";
  const components = globSync("**/*.tsx", { cwd: folder });
  expect(components.length).toBeGreaterThan(10);
  expect(
    components.filter((path) => /JSON\.parse|\.json\(\)/.test(readFileSync(join(folder, path), "utf8"))),
  ).toEqual([]);
});

test.each(["JSON.parse(text)", "texts.map(JSON.parse)", 'JSON["parse"](text)', "await response.json()"])(
  "finds %s",
  (code) => {
    const file = parseSource("http/body.ts", `const first = 1;\n${code}`);
    expect(waysAroundIt(file)).toEqual(["http/body.ts:2 -> use parseJson() of model/json.ts instead"]);
  },
);

test.each([
  "JSON.stringify(value)",
  "Date.parse(text)",
  "value.json",
  "Response.json(body)",
  "// JSON.parse(text)",
])("lets pass: %s", (code) => {
  expect(waysAroundIt(parseSource("http/body.ts", code))).toEqual([]);
});

function waysAroundIt(file: SourceFile): string[] {
  return [...nodesOf(file.tree)]
    .filter((node) => {
      if (node.type === "CallExpression")
        return node.arguments.length === 0 && node.callee.property?.name === "json";
      if (node.type !== "MemberExpression" || node.object.name !== "JSON") return false;
      return (node.property.name ?? node.property.value) === "parse";
    })
    .map((node) => `${placeOf(file, node)} -> use parseJson() of model/json.ts instead`);
}
