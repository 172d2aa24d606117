// Copies the documentation into the package, so that it is installed with the library.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function writeDocs(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(join(root, "docs")).filter((each) => each.endsWith(".md"))) {
    writeFileSync(join(folder, name), packaged(readFileSync(join(root, "docs", name), "utf8")));
  }
}

/** Without pictures, which are large, and without links to what only the repository has. */
function packaged(page) {
  return page
    .replace(/^!\[[^\]]*\]\(images\/[^)]*\)\n\n?/gm, "")
    .replace(/\[([^\]]*)\]\(\.\.\/[^)]*\)/g, "$1");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeDocs(join(root, "packages/everstep/docs"));
