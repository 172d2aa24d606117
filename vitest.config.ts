import { defineConfig } from "vitest/config";

// Tests run the sources, not the build: the exports of packages/everstep name them under this condition.
const conditions = ["everstep-source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/**/src/**/*.test.ts", "tests/**/*.test.ts", "examples/**/*.test.ts"],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // node:sqlite still announces itself as experimental on Node 22; child processes need the condition too.
    execArgv: ["--disable-warning=ExperimentalWarning", "--conditions=everstep-source"],
  },
});
