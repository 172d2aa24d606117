// The store contract over SQLite in Deno, which npm brings along: node scripts/deno.mjs
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const contract = join(import.meta.dirname, "../tests/runtimes/sqlite-contract.ts");
const folder = mkdtempSync(join(tmpdir(), "everstep-deno-"));
try {
  execFileSync("npm", ["install", "--no-save", "--no-fund", "--no-audit", "deno@2"], {
    cwd: folder,
    stdio: "inherit",
  });
  const deno = join(folder, "node_modules/.bin/deno");
  execFileSync(deno, ["run", "-A", "--no-config", "--node-modules-dir=none", contract], { stdio: "inherit" });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
