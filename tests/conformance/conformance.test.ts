import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memory } from "everstep/memory";
import { afterAll, vi } from "vitest";
import { driveReloadingOnSqlite } from "./child-process.ts";
import { describeCorpus } from "./describe-corpus.ts";
import { cloudflareDifferences, everstepDifferences } from "./differences.ts";
import { openSqlite } from "./hosting.ts";
import { driveReloadingInMemory, hostTogether } from "./in-process.ts";

// Programs mostly wait, so many run at once; with all of them at once those that measure time would be disturbed.
vi.setConfig({ maxConcurrency: 40, testTimeout: 300_000 });

const folder = mkdtempSync(join(tmpdir(), "everstep-conformance-"));
let files = 0;
const newFile = (): string => join(folder, `together-${++files}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

await describeCorpus("classes for Cloudflare, in memory", {
  differences: cloudflareDifferences,
  hostTogether: (programs) => hostTogether(programs, "cloudflare", memory()),
  driveReloading: (program) => driveReloadingInMemory(program, "cloudflare"),
});

await describeCorpus("classes for Cloudflare, on SQLite, reloaded by SIGKILL", {
  differences: cloudflareDifferences,
  hostTogether: (programs) => hostTogether(programs, "cloudflare", openSqlite(newFile())),
  driveReloading: (program) => driveReloadingOnSqlite(program, "cloudflare", folder),
});

await describeCorpus("functions of defineWorkflow, in memory", {
  differences: everstepDifferences,
  hostTogether: (programs) => hostTogether(programs, "everstep", memory()),
  driveReloading: (program) => driveReloadingInMemory(program, "everstep"),
});
