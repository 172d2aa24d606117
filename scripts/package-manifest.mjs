// The package.json that is published: without the condition under which the repository runs the library from its sources,
// which are not in the package. `prepack` puts it in place, `postpack` puts the repository's own back.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages/everstep");
const manifest = join(folder, "package.json");
const kept = join(folder, ".package.json.kept");

export function publishedManifest(source) {
  const { exports, ...rest } = JSON.parse(source);
  const published = Object.entries(exports).map(([path, target]) => {
    if (typeof target === "string") return [path, target];
    const { "everstep-source": _, ...conditions } = target;
    return [path, conditions];
  });
  return `${JSON.stringify({ ...rest, exports: Object.fromEntries(published) }, null, 2)}\n`;
}

function replace() {
  // One that is kept already is the repository's own: a pack before this one was cut off.
  if (!existsSync(kept)) writeFileSync(kept, readFileSync(manifest));
  writeFileSync(manifest, publishedManifest(readFileSync(kept, "utf8")));
}

function restore() {
  if (existsSync(kept)) renameSync(kept, manifest);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === "restore") restore();
  else replace();
}
