import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

// Tests run the sources, not the build: the exports of packages/everstep name them under this condition.
const conditions = ["everstep-source"];

// Those measure how soon something happens, or fight over connections: one at a time.
const alone = [
  "broken-connections",
  "early-and-short",
  "lost-replies-of-servers",
  "pools",
  "processes",
  "skewed-clocks",
].map((name) => `tests/regressions/${name}.test.ts`);

// Those wait for nothing but themselves, so they may share the machine with each other.
const inPairs = [
  "change-safety",
  "cli",
  "conformance",
  "golden",
  "http",
  "regressions",
  "scenarios",
  "security",
  "simulation",
  "verify",
].map((folder) => `tests/${folder}/**/*.test.ts`);

// Those start many processes and a server each, and measure how soon others go on: one at a time, after the rest.
const chaos = ["tests/chaos/*.test.ts", "tests/crash/*.test.ts"];

// Those drive a real browser, which wants a processor for itself.
const browser = ["tests/dashboard/**/*.test.ts"];

const isAlone = (file: string): boolean => alone.includes(file);
const elsewhere = [...globSync(inPairs).filter((file) => !isAlone(file)), ...chaos, ...browser];
const workers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    pool: "forks",
    // Generous: a busy machine is slow, a mistake is for ever.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // node:sqlite still announces itself as experimental on Node 22; child processes need the condition too.
    execArgv: ["--disable-warning=ExperimentalWarning", "--conditions=everstep-source"],
    projects: [
      {
        extends: true,
        test: {
          name: "units",
          include: ["packages/**/src/**/*.test.ts"],
          maxWorkers: workers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "pairs",
          include: inPairs,
          exclude: [...configDefaults.exclude, ...alone],
          maxWorkers: workers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "tests",
          include: [...alone, "tests/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...elsewhere],
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "chaos", include: chaos, fileParallelism: false, sequence: { groupOrder: 3 } },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: browser,
          globalSetup: "tests/support/built-dashboard.ts",
          maxWorkers: workers,
          // What a page shows takes a moment, and longer where others are busy.
          expect: { poll: { timeout: 30_000, interval: 50 } },
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
