// The one entry point: `npm start`, `npm test` and `npm bench` on any machine with Node 18 or newer.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureDashboard } from "./dashboard.mjs";
import { fail, prepare, root, secondsSince } from "./toolchain.mjs";

const cli = join(root, "packages/everstep/src/cli/bin.ts");
const samples = join(root, "examples/dev/workflows.ts");
const demo = join(root, "examples/crash-demo/main.ts");
const bench = join(root, "bench/main.ts");
const simulation = join(root, "tests/simulation/main.ts");
const chaos = join(root, "tests/chaos/main.ts");
const mutants = join(root, "scripts/mutants.mjs");
const screenshots = join(root, "scripts/screenshots.ts");
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const services = join(root, "scripts/services.mjs");

// Runs TypeScript as it is, and `everstep` from its sources; Node 22 still calls node:sqlite experimental.
const sourceOptions = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];

const tasks = {
  start: {
    does: "run the sample workflows with everstep dev",
    run: async (args) => {
      await buildDashboard(await prepare());
      return runCli(["dev", samples, ...args]);
    },
  },
  everstep: { does: "<arguments> the command line, from its sources", run: runCli },
  demo: { does: "kill workers and see nothing run twice", run: (args) => runOnStore(demo, args) },
  test: { does: "check everything; with arguments only those tests", run: test },
  bench: { does: "measure", run: (args) => runOnStore(bench, args, ["--durable"]) },
  screenshots: { does: "make the pictures of the documentation", run: takeScreenshots },
  simulate: {
    does: "explore random programs under random faults",
    run: (args) => runScript(simulation, args),
  },
  chaos: {
    does: "kill processes, connections and servers of a store for a while",
    run: (args) => runOnStore(chaos, args),
  },
  mutants: { does: "see that the simulation notices mistakes", run: hunt },
  run: { does: "<script.ts> run any TypeScript file", run: ([file, ...args]) => runScript(file, args) },
  npm: { does: "<arguments> npm under the right Node", run: async (args) => (await prepare()).npm(args) },
  setup: { does: "only install what the others need", run: async () => void (await prepare()) },
};

const [name, ...args] = process.argv.slice(2);
if (!Object.hasOwn(tasks, name ?? "")) fail(usage(), 2);
process.exitCode = await tasks[name].run(args);

async function buildDashboard(toolchain) {
  try {
    await ensureDashboard(toolchain);
  } catch (error) {
    fail(error.message);
  }
}

// What it tells people to type is how it is called here.
function runCli(args) {
  process.env.EVERSTEP_PROGRAM = "npm run -s everstep --";
  return runScript(cli, args);
}

async function runScript(file, args) {
  if (!file) fail("Which script shall be run?", 2);
  if (!existsSync(file)) fail(`There is no ${relative(process.cwd(), file)} to run.`, 2);
  const { node } = await prepare();
  return node([...sourceOptions, file, ...args], { cwd: process.cwd() });
}

// A server that `--store` names is there as long as the script runs; one from the environment is used as it is.
async function runOnStore(file, args, serverOptions = []) {
  const [, name] = /(?:^|\0)--store[=\0]([^\0]*)/.exec(args.join("\0")) ?? [];
  const needsServer = ["postgres", "mysql", "redis"].includes(name);
  if (!needsServer || args.includes("--help") || args.includes("-h")) return runScript(file, args);
  const { node } = await prepare();
  const command = ["node", ...sourceOptions, file, ...args];
  return node([services, ...serverOptions, "--only", name, "--", ...command], { cwd: process.cwd() });
}

async function hunt(args) {
  if (!args.includes("--servers")) return runScript(mutants, args);
  const { node } = await prepare();
  const command = ["node", ...sourceOptions, mutants, ...args];
  return node([services, "--only", "postgres,mysql,redis", "--", ...command]);
}

async function takeScreenshots() {
  const toolchain = await prepare();
  await buildDashboard(toolchain);
  const command = ["node", ...sourceOptions, screenshots];
  return toolchain.node([services, "--only", "chromium", "--", ...command]);
}

async function test(args) {
  const toolchain = await prepare();
  const { node, npm } = toolchain;
  await buildDashboard(toolchain);
  const report = join(tmpdir(), `everstep-tests-${process.pid}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  // Not through npm: a signal would end npm and leave vitest running.
  const command = ["node", vitest, "run", ...reporters, ...args];
  const tests = { title: "tests", run: () => node([services, "--", ...command]) };
  const stages = [
    { title: "format and lint", run: () => npm(["run", "--silent", "lint"]) },
    { title: "types", run: () => npm(["run", "--silent", "typecheck"]) },
    tests,
    // The dashboard, which it brings along, is built already.
    { title: "package build", run: () => npm(["run", "--silent", "build", "-w", "everstep"]) },
    { title: "package check", run: () => npm(["run", "--silent", "check:package"]) },
    { title: "package in an empty project", run: () => node([join(root, "scripts/try-package.mjs")]) },
  ];
  const exitCode = await runStages(args.length > 0 ? [tests] : stages);
  console.log(countTests(report));
  rmSync(report, { force: true });
  return exitCode;
}

async function runStages(stages) {
  const allStartMs = Date.now();
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => (interrupted = true));

  for (const { title, run } of stages) {
    const startMs = Date.now();
    console.log(`\n=== ${title} ===`);
    const exitCode = await run();
    if (interrupted) {
      console.log(`\n=== ${title}: INTERRUPTED after ${secondsSince(startMs)} ===`);
      return exitCode || 130;
    }
    if (exitCode !== 0) {
      console.log(`\n=== ${title}: FAILED after ${secondsSince(startMs)} (exit code ${exitCode}) ===`);
      return exitCode;
    }
    console.log(`=== ${title}: ok (${secondsSince(startMs)}) ===`);
  }
  console.log(`\n=== all stages ok (${secondsSince(allStartMs)}) ===`);
  return 0;
}

function countTests(report) {
  if (!existsSync(report)) return "tests: not run";
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  const skipped = numPendingTests + numTodoTests;
  const broken = testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.length,
  ).length;
  const files = `files: ${testResults.length}${broken ? `, ${broken} could not be loaded` : ""}`;
  return `tests: ${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped (${files})`;
}

function usage() {
  const lines = Object.entries(tasks).map(([task, { does }]) => `  ${task.padEnd(11)} ${does}`);
  return ["usage: node scripts/up.mjs <task> [arguments]", ...lines].join("\n");
}
