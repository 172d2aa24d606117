/** `packages/everstep/src` is the product: what nobody can import from the package, or run, does not belong there. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { importsOf, parseSource, readSources, type SourceFile } from "./source-tree.ts";

const library = "packages/everstep/src";

test("every file of the library is reachable from what the package publishes", () => {
  expect(unpublished(readSources(library), entries())).toEqual([]);
});

test("a file that only tests import is found, and so is what it imports", () => {
  const files = [
    parseSource("index.ts", 'export { decide } from "./engine/decide.ts";'),
    parseSource("engine/decide.ts", 'const late = import("./late.ts");'),
    parseSource("engine/late.ts", 'import type { Step } from "../model/step.ts";'),
    parseSource("model/step.ts", "export interface Step {}"),
    parseSource("engine/decide.test.ts", 'import "./stage.ts";'),
    parseSource("engine/stage.ts", 'import "./sample.ts";'),
    parseSource("engine/sample.ts", ""),
    parseSource("stores/redis/test-server.ts", ""),
  ];
  expect(unpublished(files, ["index.ts"])).toEqual(["engine/stage.ts", "engine/sample.ts"]);
});

function unpublished(files: readonly SourceFile[], from: readonly string[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set(from);
  for (const path of reached) {
    const file = byPath.get(path);
    for (const { target } of file ? importsOf(file) : []) reached.add(target);
  }
  return files.map(({ path }) => path).filter((path) => !reached.has(path) && !servesTests(path));
}

/** A test, or what a store's tests share beside them: `test-support.ts`, `test-server.ts`. Everything else is in tests/. */
function servesTests(path: string): boolean {
  return path.endsWith(".test.ts") || /^stores\/[^/]+\/test-[^/]+$/.test(path);
}

/** What package.json exports, and its command. */
function entries(): string[] {
  const { exports, bin } = JSON.parse(readFileSync("packages/everstep/package.json", "utf8"));
  const sources = Object.values<{ readonly "everstep-source"?: string }>(exports)
    .map((target) => target["everstep-source"])
    .filter((source) => source !== undefined);
  const commands = Object.values<string>(bin).map((built) =>
    built.replace("/dist/", "/src/").replace(/\.js$/, ".ts"),
  );
  return [...sources, ...commands].map((path) => posix.relative("src", posix.normalize(path)));
}
