/** The package that this program is part of. */
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

export function ownVersion(): string {
  return require("everstep/package.json").version;
}

/** With a slash at its end. */
export function ownFolderUrl(): string {
  return `${pathToFileURL(dirname(require.resolve("everstep/package.json"))).href}/`;
}
