import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importsOf, isTest, parseSource, readSources, type SourceFile } from "./source-tree.ts";

const library = "packages/everstep/src";

// Which room of the library may import which other. A room is a folder, a store, or a file at the top.
const mayImport: Record<string, readonly string[]> = {
  model: [],
  authoring: ["model"],
  store: ["model"],
  engine: ["model", "authoring"],
  "stores/memory": ["model", "store"],
  "stores/sql": ["model", "store"],
  "stores/sqlite": ["model", "store", "stores/sql"],
  "stores/machine": ["model", "store"],
  "stores/postgres": ["model", "store", "stores/sql", "stores/machine"],
  "stores/mysql": ["model", "store", "stores/sql", "stores/machine"],
  "stores/redis": ["model", "store", "stores/machine"],
  "stores/durable-object": ["model", "store", "stores/sql", "runner"],
  runner: ["model", "authoring", "engine", "store"],
  verify: ["model", "authoring", "engine", "store"],
  wire: ["model", "authoring"],
  words: ["model", "wire"],
  handles: ["model", "authoring", "wire", "verify"],
  client: [
    "model",
    "authoring",
    "engine",
    "store",
    "runner",
    "verify",
    "wire",
    "handles",
    "system-runtime.ts",
  ],
  http: ["model", "authoring", "client", "runner", "wire", "handles"],
  "fetch-client": ["model", "authoring", "wire", "verify", "handles", "system-runtime.ts"],
  node: ["model", "http", "system-runtime.ts"],
  fragment: ["model", "authoring", "store", "client", "http", "wire", "handles"],
  cloudflare: ["model", "authoring", "client", "handles"],
  telemetry: ["model", "store"],
  testing: ["any room", "system-runtime.ts"],
  dashboard: ["http"],
  cli: [
    "model",
    "wire",
    "words",
    "fetch-client",
    "node",
    "dashboard",
    "stores/sqlite",
    "index.ts",
    "system-runtime.ts",
  ],
  "index.ts": [
    "model",
    "authoring",
    "store",
    "engine",
    "runner",
    "client",
    "verify",
    "wire",
    "handles",
    "http",
    "system-runtime.ts",
  ],
  "system-runtime.ts": ["model"],
};

// The rooms that belong to one host and may use its own modules. Everything else runs anywhere.
const hostRooms = [
  "stores/machine",
  "stores/sqlite",
  "stores/postgres",
  "stores/mysql",
  "stores/redis",
  "node",
  "cli",
];

// The driver each of them loads when it is used, and only then.
const drivers: Record<string, string> = {
  "stores/postgres": "pg",
  "stores/mysql": "mysql2/promise",
  "stores/redis": "ioredis",
};

// What is built into the package with the room that imports it.
const builtIn: Record<string, string> = { dashboard: "everstep-dashboard" };

test("rooms import only the rooms below them", () => {
  expect(sourcesOf(library).flatMap(importsAgainstTheTable)).toEqual([]);
});

test("the library depends on nothing but the language, and on Node only in host rooms", () => {
  expect(sourcesOf(library).flatMap(importsFromOutside)).toEqual([]);
});

test("the type check knows the same host rooms", () => {
  const { exclude } = JSON.parse(readFileSync("packages/everstep/tsconfig.json", "utf8"));
  expect(exclude).toEqual(["src/**/*.test.ts", ...hostRooms.map((room) => `src/${room}`)]);
});

test.each(["examples", "bench"])("%s use the public exports only", (folder) => {
  expect(sourcesOf(folder).flatMap(importsOfInsides)).toEqual([]);
});

test.each([
  ["engine/turn.ts", 'import { claim } from "../store/store.ts";', "engine -> store"],
  ["engine/turn.ts", 'import type { Store } from "../store/store.ts";', "engine -> store"],
  ["model/step.ts", 'export * from "../engine/decide.ts";', "model -> engine"],
  ["runner/runner.ts", 'const client = await import("../client/index.ts");', "runner -> client"],
  ["store/store.ts", 'type Turn = import("../engine/turn.ts").Turn;', "store -> engine"],
  ["stores/sqlite/index.ts", 'import "../memory/index.ts";', "stores/sqlite -> stores/memory"],
  ["stores/memory/index.ts", 'import "../sql/rows.ts";', "stores/memory -> stores/sql"],
  ["stores/sqlite/a/b.ts", 'import "../../../engine/turn.ts";', "stores/sqlite -> engine"],
  ["engine/turn.ts", 'import { runtime } from "../system-runtime.ts";', "engine -> system-runtime.ts"],
  ["client/index.ts", 'import { defineWorkflow } from "../index.ts";', "client -> index.ts"],
  ["testing/index.ts", 'import "../cli/main.ts";', "testing -> cli"],
])("finds in %s: %s", (path, code, found) => {
  const file = parseSource(path, `// a comment\n${code}`);
  expect(importsAgainstTheTable(file)).toEqual([`${path}:2 ${found} is not in the table of rooms.test.ts`]);
});

test.each([
  ["engine/turn.ts", 'import { decide } from "./decide.ts";'],
  ["engine/turn.ts", 'import type { StepRecord } from "../model/step.ts";'],
  ["stores/sqlite/index.ts", 'import { claimDueTasks } from "../sql/statements.ts";'],
  ["stores/sqlite/index.ts", 'import { DatabaseSync } from "node:sqlite";'],
  ["testing/harness.ts", 'import { openMemoryStore } from "../stores/memory/index.ts";'],
  ["index.ts", 'export { systemRuntime } from "./system-runtime.ts";'],
  ["engine/turn.ts", '// import "../store/store.ts";\nconst text = \'import "node:fs"\';'],
])("lets pass in %s: %s", (path, code) => {
  const file = parseSource(path, code);
  expect([...importsAgainstTheTable(file), ...importsFromOutside(file)]).toEqual([]);
});

test("a room that nobody put in the table is found", () => {
  const file = parseSource("helpers/common.ts", 'import "../model/step.ts";');
  expect(importsAgainstTheTable(file)).toEqual([
    "helpers/common.ts:1 helpers -> model is not in the table of rooms.test.ts",
  ]);
});

test.each([
  'import { readFileSync } from "node:fs";',
  'const fs = await import("node:fs");',
  'export { readFileSync } from "node:fs";',
  'import type { Buffer } from "node:buffer";',
  'import { z } from "zod";',
  'import { memory } from "everstep/memory";',
  'const pg = await import("pg");',
])("finds outside the host rooms: %s", (code) => {
  expect(importsFromOutside(parseSource("engine/turn.ts", code))).toHaveLength(1);
});

test.each([
  ["stores/postgres/driver.ts", 'const pg = await import("pg");', 0],
  ["stores/postgres/driver.ts", 'import pg from "pg";', 1],
  ["stores/mysql/driver.ts", 'const pg = await import("pg");', 1],
])("in %s: %s is an import too many %i times", (path, code, count) => {
  expect(importsFromOutside(parseSource(path, code))).toHaveLength(count);
});

test("an example that reaches inside the library is found", () => {
  const code = 'import { decide } from "../../packages/everstep/src/engine/decide.ts";\nimport "everstep";';
  expect(importsOfInsides(parseSource("crash-demo/main.ts", code))).toHaveLength(1);
});

function importsAgainstTheTable(file: SourceFile): string[] {
  const from = roomOf(file.path);
  return importsOf(file)
    .filter(({ specifier }) => isRelative(specifier))
    .map(({ place, target }) => ({ place, to: roomOf(target) }))
    .filter(({ to }) => to !== from && !isAllowed(from, to))
    .map(({ place, to }) => `${place} ${from} -> ${to} is not in the table of rooms.test.ts`);
}

function isAllowed(from: string, to: string): boolean {
  const allowed = mayImport[from] ?? [];
  const isBelow = to !== "cli" && !to.endsWith(".ts");
  return allowed.includes(to) || (allowed.includes("any room") && isBelow);
}

function importsFromOutside(file: SourceFile): string[] {
  const room = roomOf(file.path);
  const isHost = hostRooms.includes(room);
  return importsOf(file)
    .filter(({ specifier }) => !isRelative(specifier) && !(isHost && specifier.startsWith("node:")))
    .filter(({ specifier, isDynamic }) => !(isDynamic && specifier === drivers[room]))
    .filter(({ specifier }) => specifier !== builtIn[room])
    .map(({ place, specifier }) => `${place} "${specifier}" is not available everywhere the library runs`);
}

function importsOfInsides(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ specifier }) => isRelative(specifier) && specifier.includes("packages/"))
    .map(({ place, specifier }) => `${place} "${specifier}" is not a public export`);
}

/** `stores/sqlite/index.ts` -> `stores/sqlite`, `engine/turn.ts` -> `engine`, `index.ts` -> `index.ts`. */
function roomOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "stores" ? `${first}/${second}` : first;
}

function isRelative(specifier: string): boolean {
  return specifier.startsWith(".");
}

/** Tests beside the sources may import anything. */
function sourcesOf(folder: string): SourceFile[] {
  return readSources(folder).filter((file) => !isTest(file));
}
