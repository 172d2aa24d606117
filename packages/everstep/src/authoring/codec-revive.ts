import { parseJson } from "../model/json.ts";
import { shorten, unreadable } from "./codec-errors.ts";
import { revivers } from "./codec-tags.ts";

/** What JSON.parse makes of stored text. */
export function parseStored(json: string): unknown {
  try {
    return parseJson(json);
  } catch (error) {
    throw unreadable("it is not JSON", error);
  }
}

type Holder = Record<string | number, unknown>;

/**
 * The tree with every marked place replaced by what was there. A mark only ever replaces a value that JSON.parse made,
 * under a key that is really there: no path can lead to a prototype.
 */
export function reviveMarks(tree: unknown, marks: string): unknown {
  const root: Holder = { value: tree };
  for (const mark of parseMarks(marks)) {
    const [path, tag] = parseMark(mark);
    reviveAt(root, path, tag);
  }
  return root.value;
}

function parseMarks(marks: string): readonly unknown[] {
  const list = parseStored(marks);
  if (!Array.isArray(list)) throw unreadable("its marks are not a list");
  return list;
}

function parseMark(mark: unknown): readonly [path: readonly unknown[], tag: string] {
  if (!Array.isArray(mark) || mark.length !== 2) throw unreadable("a mark is not a pair of path and tag");
  const [path, tag] = mark;
  if (!Array.isArray(path) || typeof tag !== "string")
    throw unreadable("a mark is not a pair of path and tag");
  return [path, tag];
}

function reviveAt(root: Holder, path: readonly unknown[], tag: string): void {
  const [holder, key] = locate(root, path);
  if (tag === "hole") makeHole(holder, key);
  else replace(holder, key, tag);
}

function locate(root: Holder, path: readonly unknown[]): readonly [holder: Holder, key: string | number] {
  let holder = root;
  let key: string | number = "value";
  for (const segment of path) {
    const inner = holder[key];
    if (!isHolderOf(inner, segment)) throw unreadable("a mark points to a place that does not exist");
    holder = inner;
    key = segment as string | number;
  }
  return [holder, key];
}

function isHolderOf(value: unknown, segment: unknown): value is Holder {
  if (Array.isArray(value)) return Number.isInteger(segment) && Object.hasOwn(value, segment as number);
  if (typeof value !== "object" || value === null || typeof segment !== "string") return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.hasOwn(value, segment);
}

function replace(holder: Holder, key: string | number, tag: string): void {
  const revive = revivers.get(tag);
  if (revive === undefined)
    throw unreadable(
      `it carries the tag ${JSON.stringify(shorten(tag, 80))}, which this version does not know`,
    );
  try {
    holder[key] = revive(holder[key]);
  } catch (error) {
    throw unreadable(`what is marked ${tag} does not look like it`, error);
  }
}

function makeHole(holder: Holder, key: string | number): void {
  if (!Array.isArray(holder)) throw unreadable("a hole is marked outside of an array");
  delete holder[key as number];
}
