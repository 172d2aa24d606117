/** Which file of a project has its workflows, where nobody said it. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { UsageError } from "../../problems.ts";

/** In this order; the first one that is there is taken. */
const names = ["workflows", "everstep", "workflows/index"];
const folders = ["", "src/"];
const endings = [".ts", ".mts", ".js", ".mjs"];

/** The file that was named, or the one that is where workflows usually are. */
export function findFile(cwd: string, given: string | undefined): string {
  return given === undefined ? usualFile(cwd) : namedFile(cwd, given);
}

function namedFile(cwd: string, given: string): string {
  const path = resolve(cwd, given);
  if (!existsSync(path)) throw new UsageError(`There is no file ${given}.`, suggestion(cwd));
  if (!statSync(path).isDirectory()) return path;
  const index = endings.map((ending) => join(path, `index${ending}`)).find((file) => existsSync(file));
  if (index !== undefined) return index;
  throw new UsageError(`${given} is a folder without an index${endings.join(", index")}.`, suggestion(cwd));
}

function usualFile(cwd: string): string {
  const found = usualPlaces()
    .map((place) => join(cwd, place))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  const looked = folders.flatMap((folder) => names.map((name) => `${folder}${name}`));
  throw new UsageError(
    `No workflows were found here. Looked for ${looked.join(", ")} (${endings.join(", ")}).`,
    "Name the file (everstep dev path/to/file.ts), or let one be written: everstep init",
  );
}

function usualPlaces(): string[] {
  return folders.flatMap((folder) =>
    names.flatMap((name) => endings.map((ending) => `${folder}${name}${ending}`)),
  );
}

/** Somebody who mistyped a name most likely meant a file that is there. */
function suggestion(cwd: string): string | undefined {
  const usual = usualPlaces().filter((place) => existsSync(join(cwd, place)));
  const others = readdirSync(cwd).filter((name) => endings.some((ending) => name.endsWith(ending)));
  const [first] = [...usual, ...others.map((name) => relative(cwd, join(cwd, name)))];
  return first === undefined ? undefined : `Did you mean ${first}?`;
}
