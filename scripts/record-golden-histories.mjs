// Records histories with the code of today, for tests/golden/histories: whatever one version recorded must replay alike
// on every later one.
//
//   node scripts/record-golden-histories.mjs
//
// Do so once for every release, before it, and commit the folder that appears in tests/golden/histories/fixtures under
// the package's version. Nothing is ever overwritten. Stories (tests/golden/histories/stories) may be added, but not
// changed: old histories replay on them.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "packages/everstep/package.json"), "utf8"));
const place = "tests/golden/histories";
const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
const { status } = spawnSync(
  process.execPath,
  [...flags, join(place, "record.ts"), join(place, "fixtures", version)],
  {
    cwd: root,
    stdio: "inherit",
  },
);
process.exitCode = status ?? 1;
