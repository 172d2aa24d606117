// What every task needs: a Node that is new enough, and the dependencies. No dependencies of its own; Node 18+.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const oldestNode = [22, 18];
const privateNodeFolder = join(root, "tools", "node");
const npmCiOptions = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** Makes the machine ready and returns how to run things with the right Node. */
export async function prepare() {
  const toolchain = toolsAround(await findNode());
  await installDependencies(toolchain);
  return toolchain;
}

export function say(line) {
  process.stderr.write(`[everstep] ${line}\n`);
}

/** Ends the launcher with one clear line. */
export function fail(line, exitCode = 1) {
  say(line);
  process.exit(exitCode);
}

export function secondsSince(startMs) {
  return `${((Date.now() - startMs) / 1000).toFixed(1)} s`;
}

/** How to run things with this Node; what `env` has is added to the environment. */
export function toolsAround(node) {
  const inherited = {
    ...plainWhenPiped(),
    ...process.env,
    PATH: [dirname(node), process.env.PATH].join(delimiter),
  };
  const around = ({ env, ...options } = {}) => ({ cwd: root, env: { ...inherited, ...env }, ...options });
  return {
    node: (args, options) => run(node, args, around(options)),
    npm: (args, options) => runNpm(node, args, around(options)),
  };
}

// Some tools colour their output even when it goes to a file.
function plainWhenPiped() {
  return process.stdout.isTTY || "FORCE_COLOR" in process.env ? {} : { NO_COLOR: "1" };
}

// --- Node -------------------------------------------------------------------------------------------------

async function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;

  const wanted = JSON.parse(readFileSync(join(privateNodeFolder, "package.json"), "utf8"));
  const name = `node-${process.platform}-${process.arch}`;
  const version = wanted.optionalDependencies[name];
  if (!version) failWithoutNode(`none is packaged for ${process.platform} ${process.arch}`);

  const node = join(privateNodeFolder, "node_modules", name, "bin", "node");
  if (versionOf(node) === version) return node;

  const startMs = Date.now();
  say(`Node ${process.versions.node} is older than ${oldestNode.join(".")}.`);
  say(`Fetching a private Node ${version} into tools/node, once (about 45 MB) ...`);
  const exitCode = await runNpm(process.execPath, ["ci", "--prefix", privateNodeFolder, ...npmCiOptions]);
  // npm forgives an optional dependency that it could not fetch, so its exit code alone says little.
  if (exitCode !== 0 || !existsSync(node))
    failWithoutNode("fetching failed (is the npm registry reachable?)");
  if (versionOf(node) !== version) failWithoutNode("the one that was fetched does not run on this system");
  say(`Node ${version} is ready (${secondsSince(startMs)}).`);
  return node;
}

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}

function versionOf(node) {
  if (!existsSync(node)) return undefined;
  return spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim().replace(/^v/, "");
}

function failWithoutNode(reason) {
  say(`everstep needs Node ${oldestNode.join(".")} or newer; this is ${process.versions.node}.`);
  say(`A private Node could not be provided: ${reason}.`);
  fail("Please install Node 24 (https://nodejs.org, or a version manager) and run the same command again.");
}

// --- Dependencies -----------------------------------------------------------------------------------------

async function installDependencies({ npm }) {
  const stamp = join(root, "node_modules", ".everstep-installed");
  const wanted = installationId();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;

  const startMs = Date.now();
  say("Installing dependencies, once per lockfile ...");
  const exitCode = await npm(["ci", ...npmCiOptions]);
  if (exitCode !== 0) {
    fail("Installing dependencies failed, see above (is the npm registry reachable?).", exitCode);
  }
  writeFileSync(stamp, wanted);
  say(`Dependencies are ready (${secondsSince(startMs)}).`);
}

// The platform belongs to it: a folder copied to another machine has the wrong binaries.
function installationId() {
  const lockfile = readFileSync(join(root, "package-lock.json"));
  return `${process.platform}-${process.arch} ${createHash("sha256").update(lockfile).digest("hex")}`;
}

// --- Processes --------------------------------------------------------------------------------------------

// npm is a script, so the chosen Node can run it. Started by another package manager, or by hand, we take
// the npm on the path, which finds the chosen Node there too.
function runNpm(node, args, options) {
  const script = process.env.npm_execpath;
  if (script && basename(script) === "npm-cli.js") return run(node, [script, ...args], options);
  return run("npm", args, { shell: process.platform === "win32", ...options });
}

/** Runs a command in the foreground and resolves to its exit code; `onStart` is told its process id. */
export function run(command, args, { onStart, ...options } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", ...options });
    if (child.pid) onStart?.(child.pid);
    const forward = (signal) => child.kill(signal);
    // A terminal sends Ctrl-C to the child as well. We only stay alive to report how it ended.
    const interrupted = (signal) => process.stdin.isTTY || forward(signal);
    const finish = (exitCode) => {
      process.off("SIGINT", interrupted).off("SIGTERM", forward).off("SIGHUP", forward);
      resolve(exitCode);
    };
    process.on("SIGINT", interrupted).on("SIGTERM", forward).on("SIGHUP", forward);
    child.once("error", (error) => {
      say(`"${command}" could not be started: ${error.message}`);
      finish(127);
    });
    child.once("exit", (exitCode, signal) => finish(exitCode ?? 128 + constants.signals[signal]));
  });
}
