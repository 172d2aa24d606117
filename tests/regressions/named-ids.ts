/** Which ids of promises stand in the names of tests: R-001, INV-7, LIV-2, SEC-16. */
import { globSync, readFileSync } from "node:fs";
import { sep } from "node:path";
import { parseAst } from "vitest/node";
import { nodesOf, type SyntaxNode } from "../source-tree.ts";

/** Where tests and the cases they are made of are written. */
const places = [
  "tests/**/*.ts",
  "examples/**/*.test.ts",
  "packages/*/src/**/*.test.{ts,tsx}",
  "packages/everstep/src/testing/store-contract/*.ts",
];

/** Those that speak of ids without keeping what they promise. */
const isAbout = (path: string): boolean => /(complete\.test|not-applicable|named-ids)\.ts$/.test(path);

/** By id, the files whose texts name it; comments do not count, because nobody reads them when a test fails. */
export function namedIds(pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [path, texts] of textsOfTests()) {
    const ids = new Set(texts.flatMap((text) => text.match(pattern) ?? []));
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), path]);
  }
  return found;
}

let known: ReadonlyMap<string, readonly string[]> | undefined;

function textsOfTests(): ReadonlyMap<string, readonly string[]> {
  known ??= new Map(
    globSync(places, { exclude: ["**/node_modules/**", "**/dist/**"] })
      .map((path) => path.split(sep).join("/"))
      .filter((path) => !isAbout(path))
      .map((path) => [path, textsIn(path)]),
  );
  return known;
}

/** What any of the patterns could find. Most files name no id, and need not be parsed. */
const anyId = /\b[A-Z]+-\d/;

function textsIn(path: string): readonly string[] {
  const source = readFileSync(path, "utf8");
  if (!anyId.test(source)) return [];
  const lang = path.endsWith("x") ? "tsx" : "ts";
  const tree = parseAst(source, { lang }, path) as unknown as SyntaxNode;
  const texts: string[] = [];
  for (const node of nodesOf(tree)) {
    if (node.type === "Literal" && typeof node.value === "string") texts.push(node.value);
    if (node.type === "TemplateElement") texts.push(node.value.raw);
  }
  return texts;
}

export interface Gap {
  readonly id: string;
  readonly reason: string;
}

/** What is wrong, in words: an id without a test, one that is said to be missing and is there, one that nobody knows. */
export function complaints(
  ids: readonly string[],
  named: ReadonlyMap<string, readonly string[]>,
  { missing, partly = [] }: { readonly missing: readonly Gap[]; readonly partly?: readonly Gap[] },
): string[] {
  const gaps = new Set(missing.map(({ id }) => id));
  return [
    ...ids.filter((id) => !named.has(id) && !gaps.has(id)).map((id) => `${id} is in no test's name`),
    ...ids
      .filter((id) => named.has(id) && gaps.has(id))
      .map((id) => `${id} is said not to apply, and is in ${named.get(id)?.join(", ")}`),
    ...partly
      .filter(({ id }) => !named.has(id))
      .map(({ id }) => `${id} is said to apply in part, and is in no test`),
    ...[...missing, ...partly].filter(({ id }) => !ids.includes(id)).map(({ id }) => `${id} is not an id`),
    ...[...named.keys()]
      .filter((id) => !ids.includes(id))
      .map((id) => `${id} is not an id, and is in ${named.get(id)}`),
  ];
}

/** INV-1 to INV-50. */
export function idsUpTo(prefix: string, last: number, digits = 1): string[] {
  return Array.from({ length: last }, (_, n) => `${prefix}-${String(n + 1).padStart(digits, "0")}`);
}
