/** Installs what a comparison needs into a folder of its own, once per set of versions. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Alternative } from "./alternative.ts";

export class InstallError extends Error {}

/** Gives the address of a module there whose `load` imports what was installed; null where nothing is needed. */
export async function install(
  { name, title, packages }: Alternative,
  parent: string,
  note: (what: string) => void,
): Promise<string | null> {
  if (Object.keys(packages).length === 0) return null;
  const wanted = JSON.stringify(packages);
  const folder = join(parent, `${name}-${createHash("sha256").update(wanted).digest("hex").slice(0, 8)}`);
  const stamp = join(folder, "installed");
  const loader = join(folder, "load.mjs");
  if (!existsSync(stamp)) {
    mkdirSync(folder, { recursive: true });
    const manifest = { private: true, type: "module", dependencies: packages };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
    writeFileSync(loader, "export const load = (specifier) => import(specifier);\n");
    const list = Object.entries(packages).map(([each, version]) => `${each}@${version}`);
    note(`installing ${list.join(" ")}`);
    const failure = await runNpm(folder);
    if (failure !== null) {
      rmSync(folder, { recursive: true, force: true });
      throw new InstallError(sentence(title, name, list, failure));
    }
    writeFileSync(stamp, wanted);
  }
  return pathToFileURL(loader).href;
}

function sentence(title: string, name: string, list: readonly string[], failure: string): string {
  return (
    `${title} could not be installed (${list.join(" ")}): ${failure}\n` +
    `Is the npm registry reachable? Without it, leave "${name}" out of --compare.`
  );
}

/** Null when it went well, else why not. Scripts of the packages are not run. */
function runNpm(folder: string): Promise<string | null> {
  const args = ["install", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  // Started by npm, that npm is used, under the Node we run on; otherwise the one on the path.
  const script = process.env.npm_execpath;
  const isScript = script !== undefined && basename(script) === "npm-cli.js";
  const [command, ...all] = isScript ? [process.execPath, script, ...args] : ["npm", ...args];
  return new Promise((settle) => {
    const child = spawn(command, all, {
      cwd: folder,
      shell: !isScript && process.platform === "win32",
      stdio: ["ignore", "ignore", "pipe"],
    });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors = `${errors}${chunk}`.slice(-2000);
    });
    child.once("error", (error) => settle(error.message));
    child.once("close", (code) =>
      settle(code === 0 ? null : `npm ended with exit code ${code}. ${errors.trim()}`),
    );
  });
}
