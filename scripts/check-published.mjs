// What an installed copy of the library must contain: every file that its package.json and its maps name, and nothing that
// only works inside of the repository.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The problems found, one line each. */
export function checkPublished(folder) {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  const manifest = JSON.parse(text);
  const problems = [];
  if (text.includes("everstep-source")) problems.push("package.json names the condition everstep-source");
  for (const field of ["repository", "homepage", "bugs"]) {
    if (manifest[field] === undefined) problems.push(`package.json has no ${field}`);
  }
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  for (const path of [...targets, ...Object.values(manifest.bin)]) {
    if (!existsSync(join(folder, path))) problems.push(`package.json names ${path}, which is missing`);
  }
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files) {
    if (/\.test\.ts$/.test(file)) problems.push(`${file} is a test`);
    if (!file.endsWith(".map")) continue;
    const missing = JSON.parse(readFileSync(join(folder, file), "utf8"))
      .sources.filter((source) => source.includes("/src/"))
      .filter((source) => !existsSync(join(folder, dirname(file), source)));
    problems.push(...missing.map((source) => `${file} names ${source}, which is missing`));
  }
  if (!files.some((file) => file.endsWith(".d.ts.map"))) problems.push("there are no declaration maps");
  return problems;
}
