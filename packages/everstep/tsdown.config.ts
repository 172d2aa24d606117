import { existsSync } from "node:fs";
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
  dts: true,
  deps: { neverBundle: [/^node:/, "pg", /^mysql2/, "ioredis"] },
});
