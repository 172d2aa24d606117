import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { alternativeNames, findAlternative } from "../bench/compare/catalogue.ts";
import { install } from "../bench/compare/install.ts";
import type { Report } from "../bench/report.ts";

const folder = mkdtempSync(join(tmpdir(), "everstep-compare-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a comparison with a library of one's own and a broken one", () => {
  let report: Report;
  let table: string;

  beforeAll(async () => {
    const json = join(folder, "result.json");
    const adapters = ["tests/support/fake-alternative.ts", "tests/support/broken-alternative.ts", "bullmq"];
    const flags = ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"];
    const options = ["--only", "compare", "--quick", "--dir", folder, "--json", json];
    const args = [...flags, "bench/main.ts", ...options, "--compare", adapters.join(",")];
    table = (await promisify(execFile)(process.execPath, args)).stdout;
    report = JSON.parse(readFileSync(json, "utf8"));
  });

  test("everstep and the other are measured by the same code, with the ratio of the two", () => {
    const [round] = report.workloads[0]!.rounds;
    for (const library of ["everstep", "fake"])
      for (const figure of ["throughput", "latency50", "latency99", "late50", "late99", "cpu"])
        expect(round![`${library} ${figure}`], `${library} ${figure}`).toBeTypeOf("number");
    const line = report.workloads[0]!.lines.find(({ what }) => what === "sleeps, late p99, beside Fake");
    expect(line!.ratio).not.toBeNull();
    expect(table).toContain("sleeps, late p99, beside Fake, ms");
  });

  test("what a library does not have is said, and not measured", () => {
    const [round] = report.workloads[0]!.rounds;
    expect(round).toHaveProperty(["everstep event50"]);
    expect(round).not.toHaveProperty(["fake event50"]);
    expect(table).toContain("Fake as it is here: all in memory. It keeps nothing. Without events:");
  });

  test("a library that fails leaves the others measured, and the reason is told", () => {
    expect(table).toContain("Broken as it is here: not measured. It failed: it lacks a license.");
  });

  test("a library for another store is left out", () => {
    expect(report.libraries.map(({ name }) => name)).toEqual(["everstep", "fake", "broken"]);
  });

  test("to be quicker than each of them is a target, and to beat OpenWorkflow even if it was left out", () => {
    const targets = report.targets.filter(({ workload }) => workload === "compare");
    const verdictOf = (end: string): string => targets.find(({ what }) => what.endsWith(end))!.verdict;
    expect(verdictOf("p50, beside Fake")).toMatch(/met|missed/);
    expect(verdictOf("p50, beside Broken")).toBe("not measured");
    expect(targets.find(({ aim }) => aim === "ratio >= 50")!.verdict).toBe("not measured");
  });
});

test.each(alternativeNames)(
  "%s is installed in exact versions, and says where it keeps its data",
  async (name) => {
    const { alternative } = await findAlternative(name);
    expect(alternative.name).toBe(name);
    expect(alternative.stores.length).toBeGreaterThan(0);
    expect(alternative.notes.length).toBeGreaterThan(0);
    for (const version of Object.values(alternative.packages)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  },
);

describe("with an npm that only counts how often it is asked", () => {
  const parent = join(folder, "alternatives");
  const asked = join(folder, "asked");
  const wanted = {
    name: "some",
    title: "Some",
    stores: [],
    packages: { "some-package": "1.2.3" },
    notes: [],
  };

  /** Named as the real one, because that is how it is told from other package managers. */
  const npmThat = (ends: string): void => {
    const script = join(folder, "npm-cli.js");
    writeFileSync(script, `require("node:fs").appendFileSync(${JSON.stringify(asked)}, "once "); ${ends}`);
    vi.stubEnv("npm_execpath", script);
  };

  afterEach(() => vi.unstubAllEnvs());

  test("what cannot be installed is named with its version and what to do, and leaves nothing", async () => {
    npmThat('console.error("no such host"); process.exit(1);');
    const failure = await install(wanted, parent, () => {}).catch((error) => error);
    expect(failure.message).toContain("Some could not be installed (some-package@1.2.3): npm ended");
    expect(failure.message).toContain("exit code 1. no such host");
    expect(failure.message).toContain('leave "some" out of --compare');
    expect(readdirSync(parent)).toEqual([]);
  });

  test("what is installed once is not installed again, and another version is", async () => {
    npmThat("");
    rmSync(asked);
    const first = await install(wanted, parent, () => {});
    expect(await install(wanted, parent, () => {})).toBe(first);
    expect(readFileSync(asked, "utf8")).toBe("once ");
    const newer = { ...wanted, packages: { "some-package": "1.2.4" } };
    expect(await install(newer, parent, () => {})).not.toBe(first);
    expect(readFileSync(asked, "utf8")).toBe("once once ");
  });

  test("what needs no package is not installed at all", async () => {
    expect(await install({ ...wanted, packages: {} }, join(folder, "none"), () => {})).toBeNull();
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});
