// Records what a store of this version looks like, for tests/golden/stores: a store that one version wrote must be read,
// migrated and finished by every later one.
//
//   node scripts/services.mjs -- node scripts/record-golden-stores.mjs sqlite postgres mysql redis
//
// Do so once whenever a store's schema version changes, before the release that brings it, and commit what appears in
// tests/golden/stores/fixtures. Nothing is ever overwritten: a fixture is worth something because the code that wrote it
// is gone. pg_dump and mariadb-dump must be on the path.
//
// Another version's code, from a checkout of its own (with its drivers installed, where the store needs one):
//
//   git worktree add ../everstep-then <commit>
//   node scripts/record-golden-stores.mjs --code ../everstep-then sqlite
//   git worktree remove --force ../everstep-then
//
// sqlite-v1 was recorded that way, from the last commit before version 2 ("Drop an unused import").
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "..");
const written = join(root, "tests/golden/stores");
const fixtures = join(written, "fixtures");
const parts = ["record.ts", "write.ts", "read.ts", "cast.ts"];

const { values, positionals: stores } = parseArgs({
  options: { code: { type: "string" } },
  allowPositionals: true,
});
if (stores.length === 0) {
  console.error(
    "Which stores? node scripts/record-golden-stores.mjs [--code <checkout>] sqlite postgres mysql redis",
  );
  process.exit(2);
}

mkdirSync(fixtures, { recursive: true });
const before = readdirSync(fixtures);
const place = values.code === undefined ? written : borrow(resolve(values.code));
try {
  for (const store of stores) record(store);
} finally {
  if (values.code !== undefined) rmSync(place, { recursive: true });
}
const added = readdirSync(fixtures).filter((name) => !before.includes(name));
console.log(
  added.length > 0 ? `New in tests/golden/stores/fixtures: ${added.join(", ")}` : "Nothing is new.",
);

function record(store) {
  const args = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const { status } = spawnSync(process.execPath, [...args, join(place, "record.ts"), store, fixtures], {
    stdio: "inherit",
    cwd: place,
  });
  if (status !== 0) {
    console.error(`${store} was not recorded. If its version is there already, it stays as it is.`);
    process.exitCode = 1;
  }
}

/** Inside the package the code finds itself by its own name. */
function borrow(checkout) {
  const folder = join(checkout, "packages/everstep/golden.tmp");
  mkdirSync(folder, { recursive: true });
  for (const part of parts) cpSync(join(written, part), join(folder, part));
  return folder;
}
