/** ARCHITECTURE.md names files and folders all over: walks, recipes, the tree of rooms. Each of them has to be there. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";

const roots = ["", "packages/everstep/src", "packages/dashboard/src", "tests"];
const page = readFileSync("ARCHITECTURE.md", "utf8");

test("every file and folder that ARCHITECTURE.md names is there", () => {
  expect(missingIn(page)).toEqual([]);
});

test.each(["Add an instance field", "Add a status", "Add a store", "Add an observer"])(
  "%s: every step names its files",
  (title) => {
    const steps = section(title).match(/^\d+\. .*(?:\n {2,}.*)*/gm) ?? [];
    expect(steps.length).toBeGreaterThan(2);
    expect(steps.filter((step) => namesIn(step).length === 0)).toEqual([]);
  },
);

test("an instance field is eleven files, a status eight", () => {
  const files = (title: string) => section(title).match(/^\d+\. `packages\/[^`]+`/gm) ?? [];
  expect(files("Add an instance field")).toHaveLength(11);
  expect(files("Add a status")).toHaveLength(8);
});

describe("twelve changes and their files", () => {
  const rows = (section("Twelve changes and their files").match(/^\| (?!Change|---).*$/gm) ?? []).map(
    (row) => {
      const [, change = "", like = "", files = ""] = row.split("|").map((cell) => cell.trim());
      return { change, like: [...like.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word), files };
    },
  );

  test("there are twelve", () => {
    expect(rows).toHaveLength(12);
  });

  test.each(rows)("$change: every file that is named has one of its kind", ({ like, files }) => {
    const paths = pathsIn(files).filter((path) => /\.[a-z]+$/.test(path));
    expect(paths.length).toBeGreaterThan(0);
    const hasOne = (text: string) => like.some((word) => text.toLowerCase().includes(word.toLowerCase()));
    expect(paths.filter((path) => !hasOne(readFileSync(path, "utf8")))).toEqual([]);
  });

  test("a recipe that a row names is there", () => {
    const recipes = rows.flatMap(({ files }) =>
      [...files.matchAll(/recipe "([^"]+)"/g)].map(([, name]) => name),
    );
    expect(recipes).toHaveLength(4);
    expect(recipes.filter((name) => section(name as string) === "")).toEqual([]);
  });
});

describe("a name is looked for", () => {
  test.each([
    ["from the top", "`tests/rooms.test.ts`", []],
    ["in the library", "`engine/decide.ts` and `stores/sql/reads`", []],
    ["in the folder of one that was named before", "`stores/sqlite/write.ts`, `load.ts`", []],
    ["in a room in bold", "**engine** decides: `decide.ts`", []],
    ["with a star", "`engine/turn*.test.ts`", []],
    ["and found missing", "`engine/decided.ts`, `stores/nosql/`", ["engine/decided.ts", "stores/nosql/"]],
    ["but not in another section", "`engine/turn.ts`\n## Next\n`decide.ts`", ["decide.ts"]],
    [
      "in the tree of rooms",
      "```\npackages/everstep/src/\n  engine/  decides\n    decide.ts  pure; undecided.ts\n```",
      ["undecided.ts"],
    ],
    [
      "not where it is none",
      "`step.do`, `try/catch/finally`, `POST /workflows/order`, `everstep/client`",
      [],
    ],
  ])("%s", (_where, text, missing) => {
    expect(missingIn(text)).toEqual(missing);
  });
});

function missingIn(text: string): string[] {
  return text.split(/^#{2,3} /m).flatMap((part) => {
    const near: string[] = roomsIn(part);
    return namesIn(part).filter((name) => {
      const found = placesOf(name, near);
      if (found === undefined) return true;
      near.push(found);
      return false;
    });
  });
}

/** Paths in backticks, and in trees of folders every word that ends like a file. */
function namesIn(text: string): string[] {
  const trees = text.match(/^```\n[\s\S]*?^```$/gm) ?? [];
  const prose = text.replace(/^```\w*\n[\s\S]*?^```$/gm, "");
  const quoted = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, name = ""]) => name).filter(isPath);
  const drawn = trees.flatMap((tree) =>
    [...tree.matchAll(/[a-z0-9./-]+\.(?:ts|tsx)\b/g)].map(([name]) => name),
  );
  return [...quoted, ...drawn];
}

function isPath(name: string): boolean {
  if (/\s|[{}()<>=$]/.test(name) || name.startsWith("everstep/") || name.startsWith("/")) return false;
  if (/\.(?:ts|tsx|mjs|md|css|json)$/.test(name)) return /^[a-zA-Z0-9*]/.test(name);
  const [first = ""] = name.split("/");
  return name.includes("/") && roots.some((root) => existsSync(posix.join(root, first)));
}

/** Folders that a section speaks of: in bold, and those of a tree. */
function roomsIn(text: string): string[] {
  const bold = [...text.matchAll(/\*\*([a-z-]+)\*\*/g)].map(([, name = ""]) => name);
  const drawn = [...text.matchAll(/^ *([a-z-]+(?:\/[a-z-]+)*)\/ /gm)].map(([, name = ""]) => name);
  return [...bold, ...drawn].flatMap((name) =>
    roots.map((root) => posix.join(root, name)).filter((place) => existsSync(place)),
  );
}

/** Files and folders that a text names, from the top; those that are missing are left out. */
function pathsIn(text: string): string[] {
  const near: string[] = [];
  return namesIn(text).flatMap((name) => {
    const path = pathOf(name, near);
    if (path === undefined) return [];
    near.push(folderOf(path));
    return [path];
  });
}

/** The folder in which it is. */
function placesOf(name: string, near: readonly string[]): string | undefined {
  const path = pathOf(name, near);
  return path === undefined ? undefined : folderOf(path);
}

function pathOf(name: string, near: readonly string[]): string | undefined {
  for (const folder of [...roots, ...near.toReversed()]) {
    const path = posix.join(folder, name);
    const [found] = path.includes("*") ? globSync(path) : existsSync(path) ? [path] : [];
    if (found !== undefined) return found;
  }
  return undefined;
}

function folderOf(path: string): string {
  return /\.[a-z]+$/.test(path) ? posix.dirname(path) : path;
}

function section(title: string): string {
  const [, found] = page.split(new RegExp(`^#{2,3} ${title}\\n`, "m"));
  return found?.split(/^#{2,3} /m)[0] ?? "";
}
