import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// No figure is judged here: machines that run tests are too busy for that.

interface Report {
  readonly store: { readonly name: string };
  readonly rowDifferences: readonly string[];
  readonly workloads: readonly {
    readonly name: string;
    readonly rounds: readonly Record<string, number>[];
    readonly lines: readonly { readonly what: string }[];
  }[];
}

const names = [
  "limits",
  "throughput",
  "latency",
  "cost",
  "timers",
  "events",
  "long",
  "resume",
  "nudges",
  "runners",
  "parked",
];

// What is written by hand differs between stores; the rest is the same code everywhere.
const ofServers = ["limits", "throughput", "latency", "cost", "nudges"];

const stores = [
  { store: "sqlite", isThere: true, measured: names },
  { store: "postgres", isThere: process.env.EVERSTEP_POSTGRES_URL !== undefined, measured: ofServers },
  { store: "mysql", isThere: process.env.EVERSTEP_MYSQL_URL !== undefined, measured: ofServers },
  { store: "redis", isThere: process.env.EVERSTEP_REDIS_URL !== undefined, measured: ofServers },
];

const folder = mkdtempSync(join(tmpdir(), "everstep-bench-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const { store, isThere, measured } of stores) {
  describe.skipIf(!isThere)(`on ${store}`, () => {
    let report: Report;
    let table: string;

    beforeAll(async () => {
      const json = join(folder, `${store}.json`);
      const only = measured.join(",");
      const options = ["--store", store, "--only", only, "--quick", "--dir", folder, "--json", json];
      table = (await bench(...options)).stdout;
      report = JSON.parse(readFileSync(json, "utf8"));
    }, 600_000);

    const figuresOf = (name: string): Record<string, number> =>
      report.workloads.find((workload) => workload.name === name)!.rounds[0]!;

    test("the bench measures every workload it is asked for", () => {
      expect(report.store.name).toBe(store);
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

    test("the rows written by hand are the rows the engine writes", () => {
      expect(report.rowDifferences).toEqual([]);
    });
  });
}

test.each([
  [["--store", "oracle"], 'There is no store "oracle"; there are sqlite, postgres, mysql, redis.'],
  [["--only", "speed"], 'There is no workload "speed"; there are limits, throughput,'],
  [["--runners", "0"], '--runners is "0"; it must be whole numbers from 1 to 64'],
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
