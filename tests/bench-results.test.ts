import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { judge } from "../bench/aims.ts";
import { logScale } from "../bench/plot/log-scale.ts";
import { plotOf } from "../bench/plot/plot.ts";
import type { Report } from "../bench/report.ts";
import { summarize } from "../bench/stats.ts";
import { SummaryError, withSummary, writeSummary } from "../bench/summary/write.ts";
import type { Aim } from "../bench/workload.ts";

const folder = mkdtempSync(join(tmpdir(), "everstep-results-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each<[Aim, readonly number[], string]>([
  [{ atLeast: 0.5, of: "ratio" }, [0.4, 0.5, 0.9], "met"],
  [{ atLeast: 0.5, of: "ratio" }, [0.4, 0.49, 0.9], "missed"],
  [{ atMost: 1.5, of: "ratio" }, [1, 1.5, 9], "met"],
  [{ below: 2, of: "engine" }, [2], "missed"],
  [{ below: 2, of: "engine" }, [1.99], "met"],
  [{ exactly: 6, of: "engine" }, [6, 6, 6], "met"],
  [{ exactly: 6, of: "engine" }, [6, 6, 7], "missed"],
  [{ watched: true, of: "engine" }, [1], "watched"],
])("%o with %o is %s", (aim, samples, verdict) => {
  expect(judge(aim, summarize(samples))).toBe(verdict);
  expect(judge(aim, null)).toBe("not measured");
});

test("a scale of powers of ten begins below the smallest value and ends above the largest", () => {
  const { ticks, place } = logScale([0.4, 250]);
  expect(ticks).toEqual([0.1, 1, 10, 100, 1000]);
  expect([0.1, 10, 1000].map(place)).toEqual([0, 0.5, 1]);
});

test("a picture has a bar for the raw store, everstep and each alternative, and colours for light and dark", () => {
  const picture = plotOf([report("postgres", "PostgreSQL")]);
  expect(picture).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  expect(picture.match(/<rect class="(\w+)"/g)).toEqual(
    ["raw", "everstep", "everstep", "alternative", "raw", "everstep"].map((kind) => `<rect class="${kind}"`),
  );
  for (const text of [
    "PostgreSQL",
    "raw, 256 together",
    "Other &amp; Sons",
    "2,000",
    "12,345",
    "per s",
    "ms",
  ])
    expect(picture).toContain(text);
  expect(picture).toContain("prefers-color-scheme: dark");
});

test("a picture of nothing is still a picture", () => {
  expect(plotOf([{ ...report("redis", "Redis"), workloads: [] }])).toContain("</svg>");
});

test("the summary has a column per store, in the order of the stores, and every target once", () => {
  for (const [name, title] of [
    ["redis", "Redis"],
    ["sqlite", "SQLite"],
  ] as const)
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(report(name, title)));
  writeSummary(folder);
  const summary = readFileSync(join(folder, "summary.md"), "utf8");
  expect(summary).toContain("|  | SQLite | Redis |");
  expect(summary).toContain("| workflows of 5 steps per s | 2,000 (1,000-3,000) | 2,000 (1,000-3,000) |");
  expect(summary).toContain("| SQLite | Other & Sons 1.0.0 | 12,345 | - | - | - |");
  expect(summary.match(/throughput: steps/g)).toHaveLength(1);
  expect(summary).toContain(
    "| throughput: steps | ratio >= 0.5 | 0.20 (0.10-0.30) **missed** | 0.20 (0.10-0.30) **missed** |",
  );
  expect(readFileSync(join(folder, "summary.svg"), "utf8")).toContain("SQLite");
});

test("a folder without results is refused", () => {
  expect(() => writeSummary(join(folder, "empty"))).toThrow(SummaryError);
});

test("bench/README.md has a place for the summary, which takes a new one as often as one likes", () => {
  const page = readFileSync("bench/README.md", "utf8");
  const once = withSummary(page, "the first summary");
  const twice = withSummary(once, "the second summary");
  expect(once).toContain("the first summary");
  expect(twice).toBe(once.replace("the first summary", "the second summary"));
  expect(() => withSummary("# A page", "a summary")).toThrow(SummaryError);
});

function report(name: Report["store"]["name"], title: string): Report {
  const workload = (of: string, rounds: readonly Record<string, number>[]) => ({
    name: of,
    about: "something",
    beside: null,
    seconds: 1,
    rounds,
    lines: [],
  });
  const throughput = [1000, 2000, 3000].map((workflows) => ({ workflows, rawWorkflows256: 10_000 }));
  return {
    store: { name, title, about: "a store" },
    machine: {
      node: "v24",
      system: "Linux",
      processor: "some",
      cores: 2,
      memoryGiB: 8,
      fsyncMs: 0.2,
      loadBefore: 1,
      loadAfter: 1,
    },
    day: "2026-01-31",
    warnings: [],
    quick: false,
    repeat: 3,
    seconds: 10,
    rowDifferences: [],
    failures: [],
    workloads: [
      workload("throughput", throughput),
      workload("latency", [{ p50: 2, rawP50: 1 }]),
      workload("compare", [{ "other throughput": 12_345, "everstep throughput": 1900 }]),
    ],
    libraries: [
      { name: "everstep", title: "everstep", version: "", settings: "", notes: "" },
      { name: "other", title: "Other & Sons", version: "1.0.0", settings: "", notes: "" },
    ],
    targets: [
      {
        workload: "throughput",
        what: "steps",
        unit: "per s",
        aim: "ratio >= 0.5",
        engine: summarize([1000, 2000, 3000]),
        ratio: summarize([0.1, 0.2, 0.3]),
        verdict: "missed",
      },
    ],
  };
}
