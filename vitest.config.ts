import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { SlowFirst } from "./tests/support/slow-first.ts";

// Tests run the sources, not the build: the exports of packages/everstep name them under this condition.
const conditions = ["everstep-source"];

const compiled = fileURLToPath(new URL("node_modules/.cache/everstep-compiled", import.meta.url));

// Those leave nothing behind in their process: one takes many after each other, and loads the library once.
const together = [
  "tests/{change-safety,golden,http,scenarios,security,verify}/**/*.test.ts",
  // Except for those that look at what is left in their process.
  "tests/regressions/!(pools|leaks|crowds|stopping|two-engines|durations|dangling).test.ts",
];

// Those judge their whole process, or load the library anew: each has one of its own.
const own = ["packages/**/src/**/{simulate-world,turn-endings,driver}.test.ts"];

// Those have leases so short that a busy machine may lose them: one at a time.
const alone = ["tests/regressions/pools.test.ts"];

// Those start many processes and a server each, and wait for them most of the time: after the rest, beside the browser.
const chaos = ["tests/chaos/**/*.test.ts", "tests/crash/*.test.ts"];

// Those drive a real browser.
const browser = ["tests/dashboard/**/*.test.ts"];

// Much of what tests do is to wait, for servers and for processes of their own.
const cores = availableParallelism();
const workers = cores <= 4 ? cores + 2 : cores;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    // Generous: a busy machine is slow, a mistake is for ever.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is looked for takes a moment, and longer where others are busy.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    // node:sqlite still announces itself as experimental on Node 22; child processes need the condition too.
    execArgv: ["--disable-warning=ExperimentalWarning", "--conditions=everstep-source"],
    // What Node has made of the sources: hundreds of processes of tests begin with the same ones.
    env: { NODE_COMPILE_CACHE: compiled },
    sequence: { sequencer: SlowFirst },
    // What a test puts in place of something global is not there for the next one.
    unstubGlobals: true,
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: {
          name: "units",
          include: ["packages/**/src/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...own],
          isolate: false,
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: together,
          isolate: false,
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "pairs",
          include: ["tests/**/*.test.ts", "examples/**/*.test.ts", ...own],
          exclude: [...configDefaults.exclude, ...together, ...alone, ...chaos, ...browser],
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "alone", include: alone, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: "chaos", include: chaos, maxWorkers: workers, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: browser,
          // One browser for many files: to start it takes longer than most tests.
          isolate: false,
          globalSetup: "tests/support/built-dashboard.ts",
          maxWorkers: workers,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
