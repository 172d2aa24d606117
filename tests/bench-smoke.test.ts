import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

// No figure is judged here: machines that run tests are too busy for that.

interface Report {
  readonly rowDifferences: readonly string[];
  readonly workloads: readonly {
    readonly name: string;
    readonly rounds: readonly Record<string, number>[];
    readonly lines: readonly { readonly what: string }[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), "everstep-bench-"));
const json = join(folder, "report.json");
let report: Report;
let table: string;

beforeAll(async () => {
  const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
  const bench = ["bench/main.ts", "--quick", "--dir", folder, "--json", json];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...bench]);
  table = stdout;
  report = JSON.parse(readFileSync(json, "utf8"));
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the bench measures every workload", () => {
  const names = ["throughput", "latency", "timers", "events", "long", "resume"];
  expect(report.workloads.map((workload) => workload.name)).toEqual(names);
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

function figuresOf(name: string): Record<string, number> {
  return report.workloads.find((workload) => workload.name === name)!.rounds[0]!;
}
