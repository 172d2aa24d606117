import { globSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { parseAst } from "vitest/node";

/** One source file, as text and as a syntax tree. */
export interface SourceFile {
  readonly folder: string;
  /** Relative to the folder, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: SyntaxNode;
}

/** A node of the ESTree that the parser makes; what it holds depends on its type. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a hundred node types, read by the few that know them.
  readonly [field: string]: any;
}

export function readSources(folder: string): SourceFile[] {
  return globSync("**/*.{ts,mts,mjs}", { cwd: folder, exclude: ["**/node_modules", "**/dist"] })
    .map((path) => path.split(sep).join("/"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(folder, path), "utf8"), folder));
}

export function parseSource(path: string, text: string, folder = ""): SourceFile {
  return { folder, path, text, tree: parseAst(text, { lang: "ts" }, path) as unknown as SyntaxNode };
}

/** A node and everything below it, in source order; `enters` may leave branches out. */
export function* nodesOf(
  node: SyntaxNode,
  enters: (child: SyntaxNode, field: string, parent: SyntaxNode) => boolean = () => true,
): Generator<SyntaxNode> {
  // Not by recursion: each step of it would pass through all the generators above.
  const left: SyntaxNode[] = [node];
  for (let each = left.pop(); each !== undefined; each = left.pop()) {
    yield each;
    const children: SyntaxNode[] = [];
    for (const field of Object.keys(each)) {
      const value = each[field];
      if (typeof value !== "object" || value === null) continue;
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child) && enters(child, field, each)) children.push(child);
      }
    }
    for (let at = children.length - 1; at >= 0; at--) left.push(children[at] as SyntaxNode);
  }
}

export interface Import {
  readonly place: string;
  /** As written: `../model/step.ts`, `node:fs`. */
  readonly specifier: string;
  /** From the folder that was read: `model/step.ts`. */
  readonly target: string;
  /** At run time, when the code comes to it: `await import("pg")`. */
  readonly isDynamic: boolean;
}

/** Static, dynamic and type imports, and exports from elsewhere: every node with a source. */
export function importsOf(file: SourceFile): Import[] {
  return [...nodesOf(file.tree)]
    .filter((node) => typeof node.source?.value === "string")
    .map((node) => ({
      place: placeOf(file, node),
      specifier: node.source.value,
      target: posix.join(posix.dirname(file.path), node.source.value),
      isDynamic: node.type === "ImportExpression",
    }));
}

/** Where a node stands, in the form editors and terminals make clickable. */
export function placeOf(file: SourceFile, node: SyntaxNode): string {
  const line = file.text.slice(0, node.start).split("\n").length;
  return `${posix.join(file.folder, file.path)}:${line}`;
}

export function isTest(file: SourceFile): boolean {
  return file.path.endsWith(".test.ts");
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
