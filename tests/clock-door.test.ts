import { expect, test } from "vitest";
import {
  isTest,
  nodesOf,
  parseSource,
  placeOf,
  readSources,
  type SourceFile,
  type SyntaxNode,
} from "./source-tree.ts";

const library = "packages/everstep/src";

// Time, timers and randomness come in through the runtime (model/runtime.ts). Only its real implementation may
// ask the machine for them; everything else could not be simulated.
const theDoor = "system-runtime.ts";

const useInstead: Record<string, string> = {
  "Date.now": "runtime.now()",
  "new Date()": "new Date(runtime.now())",
  "Date()": "new Date(runtime.now())",
  "Temporal.Now": "runtime.now()",
  "performance.now": "runtime.monotonic()",
  setTimeout: "runtime.timer()",
  setInterval: "runtime.timer(), again after each call",
  setImmediate: "runtime.drained() or runtime.timer()",
  "process.nextTick": "queueMicrotask()",
  "AbortSignal.timeout": "an AbortController and runtime.timer()",
  "Math.random": "runtime.float()",
  "crypto.randomUUID": "runtime.uuid()",
  "crypto.getRandomValues": "runtime.float() or runtime.uuid()",
};

test("only system-runtime.ts reads the real clock, timers and randomness", () => {
  const files = readSources(library).filter((file) => !isTest(file) && file.path !== theDoor);
  expect(files.flatMap(waysAroundIt)).toEqual([]);
});

test.each([
  ["Date.now()", "Date.now"],
  ["const clock = Date.now;", "Date.now"],
  ["const { now } = Date;", "Date.now"],
  ["globalThis.Date.now()", "Date.now"],
  ['Date["now"]()', "Date.now"],
  ["(Date as unknown as Clock).now()", "Date.now"],
  ["new Date()", "new Date()"],
  ["new Date", "new Date()"],
  ["Date()", "Date()"],
  ["Temporal.Now.instant()", "Temporal.Now"],
  ["performance?.now()", "performance.now"],
  ["setTimeout(run, 5)", "setTimeout"],
  ["globalThis.setTimeout(run, 5)", "setTimeout"],
  ["await new Promise((resolve) => setTimeout(resolve, 5))", "setTimeout"],
  ["const runtime = { timer: setTimeout };", "setTimeout"],
  ["const runtime = { setTimeout };", "setTimeout"],
  ['import { setTimeout as delay } from "node:timers/promises";', "setTimeout"],
  ["setInterval(run, 5)", "setInterval"],
  ["setImmediate(run)", "setImmediate"],
  ["process.nextTick(run)", "process.nextTick"],
  ["AbortSignal.timeout(5)", "AbortSignal.timeout"],
  ["Math.random()", "Math.random"],
  ["crypto.randomUUID()", "crypto.randomUUID"],
  ["const { randomUUID } = globalThis.crypto;", "crypto.randomUUID"],
  ["crypto.getRandomValues(bytes)", "crypto.getRandomValues"],
])("finds %s", (code, name) => {
  const file = parseSource("engine/turn.ts", `const first = 1;\n${code}`);
  expect(waysAroundIt(file)).toEqual([`engine/turn.ts:2 ${name} -> use ${useInstead[name]} instead`]);
});

test.each([
  "const at = new Date(nowMs);",
  "const at = Date.parse(text) + Date.UTC(2026, 1);",
  "const nowMs = runtime.now();",
  "const timer = runtime.setTimeout(run, 5);",
  "const runtime = { setTimeout: undefined, random() {} };",
  "let timer: ReturnType<typeof setTimeout> | undefined;",
  "interface Runtime { setTimeout(run: () => void): void }",
  "queueMicrotask(run);",
  "const hash = await crypto.subtle.digest('SHA-256', bytes);",
  "const wait = Math.max(0, clearTimeout(timer));",
  "const note = 'Date.now() and setTimeout'; // Math.random()",
])("lets pass: %s", (code) => {
  expect(waysAroundIt(parseSource("engine/turn.ts", code))).toEqual([]);
});

function waysAroundIt(file: SourceFile): string[] {
  return [...nodesOf(file.tree, isCode)].flatMap((node) =>
    namesUsed(node)
      .filter((name) => Object.hasOwn(useInstead, name))
      .map((name) => `${placeOf(file, node)} ${name} -> use ${useInstead[name]} instead`),
  );
}

/** What a node takes from the outside, under the names of the table. */
function namesUsed(node: SyntaxNode): string[] {
  switch (node.type) {
    case "Identifier":
    case "MemberExpression":
      return [globalName(node)];
    case "NewExpression":
      return node.arguments.length === 0 ? [`new ${globalName(node.callee)}()`] : [];
    case "CallExpression":
      return [`${globalName(node.callee)}()`];
    case "VariableDeclarator":
      return node.id.type === "ObjectPattern" ? destructuredNames(node) : [];
    default:
      return [];
  }
}

function destructuredNames(declarator: SyntaxNode): string[] {
  const source = declarator.init ? globalName(declarator.init) : "";
  return declarator.id.properties.map((property: SyntaxNode) => `${source}.${property.key?.name}`);
}

/** `globalThis.Date["now"]` -> `Date.now`; the empty string for what is not a plain path of names. */
function globalName(node: SyntaxNode): string {
  switch (node.type) {
    case "Identifier":
      return node.name;
    case "MemberExpression": {
      const property = node.computed ? node.property.value : node.property.name;
      return `${globalName(node.object)}.${property}`.replace(/^(globalThis|self|window)\./, "");
    }
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
      return globalName(node.expression);
    default:
      return "";
  }
}

/** Leaves out types, and the names of properties, which only look like globals. */
function isCode(node: SyntaxNode, field: string, parent: SyntaxNode): boolean {
  if (node.type.startsWith("TS")) return "expression" in node;
  if (field === "typeAnnotation") return false;
  if (parent.type === "MemberExpression" && field === "property") return parent.computed;
  return field !== "key" || parent.computed;
}
