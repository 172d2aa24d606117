// Where programs live: on the path, or where packages put what only administrators start.
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const administratorFolders = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"];

/** The first of these programs that can be run. */
export function findProgram(names, folders = []) {
  const places = [...folders, ...(process.env.PATH ?? "").split(delimiter), ...administratorFolders];
  for (const name of names) {
    for (const place of places.filter(Boolean)) {
      const program = join(place, name);
      if (isExecutable(program)) return program;
    }
  }
  return undefined;
}

/** The folders `<parent>/<version>/<below>`, newest version first. */
export function versionFolders(parent, prefix = "", below = "bin") {
  if (!existsSync(parent)) return [];
  const versions = readdirSync(parent).filter((name) => name.startsWith(prefix));
  return versions
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((version) => join(parent, version, below));
}

export function isExecutable(program) {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
