// Builds the dashboard if it is not what its sources say: it is served as built files, and nobody should have to think
// of building them. No dependencies of its own; Node 18+.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { root, say, secondsSince, toolsAround } from "./toolchain.mjs";

const home = join(root, "packages/dashboard");
const built = join(home, "dist/files.js");
const stamp = join(home, "dist/.stamp");
const lock = join(root, "node_modules/.everstep-dashboard-building");
const buildMsMax = 300_000;

const sourceNames =
  /^(src|public|build|index\.html|package\.json|tsconfig.*\.json|.*\.mjs|vite\.config\..*)$/;
// What the dashboard has of the library, and the versions of everything else.
const otherSources = ["fetch-client", "model", "authoring/duration.ts"]
  .map((name) => join(root, "packages/everstep/src", name))
  .concat(join(root, "package-lock.json"));

/** Resolves when the built dashboard is what its sources say; fails if it cannot be built. */
export async function ensureDashboard({ npm } = toolsAround(process.execPath)) {
  if (isBuiltFrom(hashOfSources())) return;
  await alone(async () => {
    // Taken before the build: what changes meanwhile is built the next time. And another process may just have built it.
    const hash = hashOfSources();
    if (isBuiltFrom(hash)) return;
    const startMs = Date.now();
    say("Building the dashboard, once per change of its sources ...");
    // Under a test runner this would be a build for tests. And standard output belongs to whoever wanted the dashboard.
    const options = { env: { NODE_ENV: "production" }, stdio: ["ignore", 2, 2] };
    const exitCode = await npm(["run", "--silent", "build", "-w", "everstep-dashboard"], options);
    if (exitCode !== 0) throw new Error(`Building the dashboard failed, see above (exit code ${exitCode}).`);
    writeFileSync(stamp, stampOf(hash));
    say(`The dashboard is built (${secondsSince(startMs)}).`);
  });
}

function isBuiltFrom(hash) {
  return existsSync(built) && existsSync(stamp) && readFileSync(stamp, "utf8") === stampOf(hash);
}

// With what was built, because a build by hand leaves the stamp alone.
function stampOf(hash) {
  return `${hash} ${hashOf(readFileSync(built))}`;
}

function hashOfSources() {
  const own = readdirSync(home).filter((name) => sourceNames.test(name));
  const hash = createHash("sha256");
  for (const file of [...own.map((name) => join(home, name)), ...otherSources].flatMap(filesIn).sort()) {
    hash.update(`${relative(root, file)} ${hashOf(readFileSync(file))}\n`);
  }
  return hash.digest("hex");
}

function hashOf(content) {
  return createHash("sha256").update(content).digest("hex");
}

function filesIn(place) {
  if (!statSync(place).isDirectory()) return /\.test\.\w+$/.test(place) ? [] : [place];
  return readdirSync(place).flatMap((name) => filesIn(join(place, name)));
}

/** One build at a time: each begins by emptying the folder. The lock of a process that died holds nobody up. */
async function alone(work) {
  while (!takeLock()) await delay(200);
  try {
    await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takeLock() {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  if (isStale()) rmSync(lock, { force: true });
  return false;
}

function isStale() {
  try {
    if (Date.now() - statSync(lock).mtimeMs > buildMsMax) return true; // its holder's id may be another's by now
    const holder = Number(readFileSync(lock, "utf8"));
    // Between being created and being written it is empty.
    return holder > 0 && !isAlive(holder);
  } catch {
    return false; // it has just been released
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}
