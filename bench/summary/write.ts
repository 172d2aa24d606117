/** Makes the summary of all results in a folder, and puts it into a page. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { storeNames } from "../grounds/ground.ts";
import { numberText } from "../number-text.ts";
import { plotOf } from "../plot/plot.ts";
import type { Report } from "../report.ts";
import { comparisonTable, figuresTable, targetsTable } from "./tables.ts";

const bench = join(import.meta.dirname, "..");

export const resultsFolder = join(bench, "results");

const begin = "<!-- summary: made by bench/summary.ts from bench/results, do not edit -->";
const end = "<!-- end of the summary -->";

export class SummaryError extends Error {}

/** Writes `summary.md` and `summary.svg` into the folder; the results of the project itself also go to bench/README.md. */
export function writeSummary(folder: string): void {
  const reports = readReports(folder);
  if (reports.length === 0) throw new SummaryError(`There is no result of a store in ${folder}.`);
  writeFileSync(join(folder, "summary.svg"), plotOf(reports));
  writeFileSync(join(folder, "summary.md"), `# Results\n\n${summaryText(reports, "")}\n`);
  if (resolve(folder) !== resolve(resultsFolder)) return;
  const page = join(bench, "README.md");
  writeFileSync(page, withSummary(readFileSync(page, "utf8"), summaryText(reports, "results/")));
}

/** In the order in which stores are always named. */
function readReports(folder: string): readonly Report[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return storeNames
    .filter((name) => files.includes(`${name}.json`))
    .map((name) => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Report);
}

/** `base`: how the results are reached from the page. */
function summaryText(reports: readonly Report[], base: string): string {
  const comparison = comparisonTable(reports);
  const lists = reports.map(({ store }) => `[${store.title}](${base}${store.name}.md)`);
  return [
    machineText(reports),
    `Everything that was measured: ${lists.join(", ")}.`,
    `![Throughput and latency](${base}summary.svg)`,
    figuresTable(reports),
    ...(comparison === null ? [] : ["Beside other libraries, on the same disk or server:", comparison]),
    "Targets:",
    targetsTable(reports),
  ].join("\n\n");
}

function machineText(reports: readonly Report[]): string {
  const days = [...new Set(reports.map(({ day }) => day))].join(", ");
  const [first] = reports;
  const machine = first?.machine;
  const repeats = [...new Set(reports.map(({ repeat }) => repeat))].join(" or ");
  const stores = reports.map(({ store }) => `- ${store.title}: ${store.about}.`).join("\n");
  return (
    `Medians of ${repeats} rounds (smallest-largest; some workloads have fewer), latencies as p50, on ${days}. ` +
    `Node ${machine?.node}, ${machine?.system}, ${machine?.cores} x ${machine?.processor}, ${machine?.memoryGiB} GiB; ` +
    `appending 4 KiB durably takes ${numberText(machine?.fsyncMs ?? Number.NaN)} ms. Load at the start of each: ` +
    `${reports.map((report) => numberText(report.machine.loadBefore)).join(", ")}.\n\n${stores}`
  );
}

export function withSummary(page: string, summary: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from)
    throw new SummaryError(`The page has no place for the summary: ${begin} ... ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${summary}\n\n${page.slice(to)}`;
}
