import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "tsdown";
import manifest from "./package.json" with { type: "json" };

// Everything package.json exports is built to the place it names there; an entry point that is not
// written yet is left out.
const entries = Object.values(manifest.exports)
  .filter((target) => typeof target === "object")
  .filter((target) => existsSync(new URL(target["everstep-source"], import.meta.url)))
  .map((target) => [target.default.replace(/^\.\/dist\/|\.js$/g, ""), target["everstep-source"]]);

export default defineConfig({
  entry: { ...Object.fromEntries(entries), "cli/bin": "./src/cli/bin.ts" },
  tsconfig: "tsconfig.host.json",
  platform: "neutral",
  target: "es2023",
  // "Go to definition" and stack traces lead to the sources, which the package contains for that.
  dts: { sourcemap: true },
  hooks: { "build:done": ({ options }) => dropSourcesContent(options.outDir) },
  deps: { neverBundle: [/^node:/, "pg", /^mysql2/, "ioredis"] },
});

/** The package contains the sources; a second copy inside of the maps would double its size. */
function dropSourcesContent(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".js.map")) continue;
    const { sourcesContent: _, ...map } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    writeFileSync(join(folder, name), JSON.stringify(map));
  }
}
