import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// No figure is judged here: machines that run tests are too busy for that.

interface Report {
  readonly store: { readonly name: string };
  readonly rowDifferences: readonly string[];
  readonly failures: readonly object[];
  readonly workloads: readonly {
    readonly name: string;
    readonly rounds: readonly Record<string, number>[];
    readonly lines: readonly { readonly what: string }[];
  }[];
  readonly targets: readonly {
    readonly workload: string;
    readonly what: string;
    readonly verdict: string;
  }[];
}

const names = [
  "limits",
  "throughput",
  "latency",
  "cost",
  "timers",
  "storm",
  "events",
  "long",
  "linear",
  "resume",
  "payloads",
  "nudges",
  "runners",
  "idle",
  "parked",
];

// What is written by hand differs between stores; the rest is the same code everywhere.
const ofServers = ["limits", "throughput", "latency", "cost", "nudges"];

const stores = [
  { store: "sqlite", isThere: true, measured: names },
  { store: "sqlite-normal", isThere: true, measured: ["throughput", "latency"] },
  { store: "postgres", isThere: process.env.EVERSTEP_POSTGRES_URL !== undefined, measured: ofServers },
  // Without nudges, which there are polls and take long.
  {
    store: "mysql",
    isThere: process.env.EVERSTEP_MYSQL_URL !== undefined,
    measured: ofServers.filter((name) => name !== "nudges"),
  },
  { store: "redis", isThere: process.env.EVERSTEP_REDIS_URL !== undefined, measured: ofServers },
];

const folder = mkdtempSync(join(tmpdir(), "everstep-bench-"));

// Much of the time is waiting, so SQLite runs beside the servers; those take their turns.
const tables = new Map<string, Promise<string>>();
let serversRun: Promise<unknown> = Promise.resolve();
for (const { store, isThere, measured } of stores) {
  if (!isThere) continue;
  const only = measured.join(",");
  const options = ["--store", store, "--only", only, "--quick", "--dir", folder, "--results", folder];
  const run = async (): Promise<string> => (await bench(...options)).stdout;
  const table = store === "sqlite" ? run() : serversRun.then(run, run);
  if (store !== "sqlite") serversRun = table;
  // A failure shows where it is waited for.
  table.catch(() => {});
  tables.set(store, table);
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const { store, isThere, measured } of stores) {
  describe.skipIf(!isThere)(`on ${store}`, () => {
    let report: Report;
    let table: string;

    beforeAll(async () => {
      table = await tables.get(store)!;
      report = JSON.parse(readFileSync(join(folder, `${store}.json`), "utf8"));
    }, 600_000);

    const figuresOf = (name: string): Record<string, number> =>
      report.workloads.find((workload) => workload.name === name)!.rounds[0]!;

    test("the bench measures every workload it is asked for", () => {
      expect(report.store.name).toBe(store);
      expect(report.failures).toEqual([]);
      expect(report.workloads.map((workload) => workload.name)).toEqual(measured);
      for (const { name, rounds, lines } of report.workloads) {
        expect(rounds, name).toHaveLength(1);
        expect(lines.length, name).toBeGreaterThan(0);
        for (const [figure, value] of Object.entries(rounds[0]!))
          expect(value, `${name} ${figure}`).not.toBeNaN();
        expect(table).toContain(`${name}: `);
      }
    });

    test("a workflow of 5 steps that runs alone takes 6 transactions", () => {
      expect(figuresOf("latency").transactions).toBe(6);
    });

    test("every target is judged, or said to be not measured", () => {
      const found = report.targets.map(({ workload }) => workload);
      for (const name of ["throughput", "latency", "timers", "events", "linear", "idle", "parked"])
        expect(found).toContain(name);
      for (const { workload, what, verdict } of report.targets) {
        if (!measured.includes(workload)) expect(verdict, what).toBe("not measured");
        else expect(["met", "missed", "watched"], what).toContain(verdict);
        expect(table).toContain(`${workload}: ${what}`);
      }
    });

    test("the results are written as figures, as a page and as a picture", () => {
      const written = readdirSync(folder).filter((file) => file.startsWith(`${store}.`));
      expect(written.sort()).toEqual([`${store}.json`, `${store}.md`, `${store}.svg`]);
    });

    test("the rows written by hand are the rows the engine writes", () => {
      expect(report.rowDifferences).toEqual([]);
    });
  });
}

test.each([
  [
    ["--store", "oracle"],
    'There is no store "oracle"; there are sqlite, sqlite-normal, postgres, mysql, redis.',
  ],
  [["--only", "speed"], 'There is no workload "speed"; there are limits, throughput,'],
  [["--runners", "0"], '--runners is "0"; it must be whole numbers from 1 to 64'],
  [["--compare", "oracle"], 'There is no alternative "oracle"; there are dbos, openworkflow, bullmq,'],
  [["--only", "compare"], "--only compare needs --compare with the names of the libraries."],
  [["--all", "--store", "redis"], "--all makes a report for each store"],
  [["--parked", "many"], '--parked is "many"; it must be whole numbers from 1 to'],
])("%s is refused with what would do", async (args, sentence) => {
  const failure = await bench(...args).catch((error) => error);
  expect(failure.code).toBe(2);
  expect(failure.stderr).toContain(sentence);
});

test("a store without its server is refused with what to do", async () => {
  const failure = await bench("--store", "redis", { EVERSTEP_REDIS_URL: "" }).catch((error) => error);
  expect(failure.code).toBe(2);
  expect(failure.stderr).toContain("EVERSTEP_REDIS_URL is not set, so there is no server to measure.");
});

function bench(...given: (string | NodeJS.ProcessEnv)[]): Promise<{ stdout: string }> {
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const args = given.filter((each) => typeof each === "string");
  const env = Object.assign({}, process.env, ...given.filter((each) => typeof each !== "string"));
  return promisify(execFile)(process.execPath, [...flags, "bench/main.ts", ...args], { env });
}
