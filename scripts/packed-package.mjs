// The library as it is published: packs it and installs the tarball into empty projects outside the repository.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ["npm"];

export function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"], env: cleanEnvironment() });
}

/** Returns the path of the tarball. */
export function pack(folder) {
  run(
    npm[0],
    [...npm.slice(1), "pack", "--silent", "--pack-destination", folder],
    join(root, "packages/everstep"),
  );
  return join(
    folder,
    readdirSync(folder).find((file) => file.endsWith(".tgz")),
  );
}

export function install(folder, ...packages) {
  const quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
  run(npm[0], [...npm.slice(1), "install", ...packages, ...quiet], folder);
}

export function emptyProject() {
  const folder = mkdtempSync(join(tmpdir(), "everstep-try-package-"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return folder;
}

/** npm's own variables would point the inner npm back at this repository. */
export function cleanEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith("npm_config_") && !name.startsWith("npm_package_"),
    ),
  );
}
