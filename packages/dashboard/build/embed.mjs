// Turns the built site into one module, so that it can be served wherever modules can be loaded.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const site = join(dist, "site");
const files = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort()
  .map(embedded);
const list = files.map((file) => JSON.stringify(file)).join(",\n  ");
writeFileSync(join(dist, "files.js"), `export const files = [\n  ${list},\n];\n`);

const scripts = files.filter(({ path }) => path.endsWith(".js"));
const bytes = scripts.reduce((sum, { gzip }) => sum + Buffer.from(gzip, "base64").length, 0);
console.log(`${files.length} files, ${(bytes / 1024).toFixed(1)} KB of script (gzip)`);

function embedded(file) {
  const path = relative(site, file).split(sep).join("/");
  const type = types[extname(file)];
  if (!type) throw new Error(`Nobody has said what kind of file ${path} is; add it to build/embed.mjs.`);
  const gzip = gzipSync(readFileSync(file), { level: 9 }).toString("base64");
  return { path, type, gzip, isHashed: path.startsWith("assets/") };
}
