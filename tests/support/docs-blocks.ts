/** The TypeScript on the pages, and the examples that it is taken from. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";

export interface Block {
  readonly page: string;
  readonly line: number;
  /** The example named in front of it: a file, or a region of one. */
  readonly source: string | null;
  readonly lines: readonly string[];
  /** What the example says; null where none is named. */
  readonly expected: readonly string[] | null;
}

/** The TypeScript blocks of a page. */
export function codeBlocks(page: string): Block[] {
  const lines = readFileSync(page, "utf8").split("\n");
  const told = new Set<string>();
  return lines.flatMap((fence, at) => {
    if (fence !== "```ts") return [];
    const end = lines.indexOf("```", at);
    const source = /^<!-- (\S+) -->$/.exec(lines[at - 1] ?? "")?.[1] ?? null;
    const expected = source === null ? null : exampleOf(source, told);
    return [{ page, line: at + 1, source, lines: lines.slice(at + 1, end), expected }];
  });
}

/**
 * `examples/docs/file.ts` is the whole file, `examples/docs/file.ts#name` the lines between its region comments, behind the imports
 * of what they use: so that a reader can take the block as it is. What a block above has imported already is not said again: `told`.
 */
function exampleOf(source: string, told: Set<string>): readonly string[] {
  const [file = ""] = source.split("#");
  const region = regionOf(source);
  const own = importsIn(region).flatMap(({ names }) => names);
  const code = codeOf(region);
  const missing = importsIn(readFileSync(file, "utf8").split("\n"))
    .map(({ names, ...rest }) => ({
      ...rest,
      names: names.filter(
        (name) => isUsed(name, code) && !own.includes(name) && !told.has(`${file} ${name}`),
      ),
    }))
    .filter(({ names }) => names.length > 0);
  for (const name of [...own, ...missing.flatMap(({ names }) => names)]) told.add(`${file} ${name}`);
  const added = missing.map(({ names, head, from }) => `${head(names)} from ${from};`);
  if (added.length === 0) return region;
  return own.length > 0 ? [...added, ...region] : [...added, "", ...region];
}

function regionOf(source: string): readonly string[] {
  const [file = "", name] = source.split("#");
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  if (name === undefined) return lines;
  const begin = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  const end = lines.findIndex((line) => line.trim() === `// #endregion ${name}`);
  expect([begin, end], `${source} has no such region`).not.toContain(-1);
  const indent = /^ */.exec(lines[begin] ?? "")?.[0] ?? "";
  return lines.slice(begin + 1, end).map((line) => line.replace(indent, ""));
}

interface Imported {
  /** As they stand there: `createClient`, `type Fetch`. */
  readonly names: readonly string[];
  readonly from: string;
  readonly at: number;
  readonly head: (names: readonly string[]) => string;
}

function importsIn(lines: readonly string[]): readonly Imported[] {
  const text = lines.join("\n");
  const several = [...text.matchAll(/^import (type )?\{([^}]*)\} from ("[^"]+");/gm)].map(
    ({ 1: type = "", 2: names = "", 3: from = "", index: at }): Imported => ({
      names: names.split(",").flatMap((name) => name.trim() || []),
      from,
      at,
      head: (used) =>
        type !== "" || used.every((name) => name.startsWith("type "))
          ? `import type { ${used.map((name) => name.replace(/^type /, "")).join(", ")} }`
          : `import { ${used.join(", ")} }`,
    }),
  );
  const single = [...text.matchAll(/^import ([\w$]+) from ("[^"]+");/gm)].map(
    ({ 1: name = "", 2: from = "", index: at }): Imported => ({
      ...{ names: [name], from, at },
      head: () => `import ${name}`,
    }),
  );
  return [...single, ...several].sort((a, b) => a.at - b.at);
}

/** Without comments and texts. */
function codeOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\/\/.*$|^\s*\/?\*.*$/, ""))
    .join("\n");
}

function isUsed(name: string, code: string): boolean {
  const known = name.replace(/^type /, "").replace(/^.* as /, "");
  return new RegExp(`(?<![\\w$.])${known.replaceAll("$", "\\$")}(?![\\w$]|:)`).test(code);
}
