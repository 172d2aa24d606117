/** Where a report goes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./options.ts";
import { plotOf } from "./plot/plot.ts";
import type { Report } from "./report.ts";
import { markdown, plainText } from "./report-text.ts";

type Outputs = Pick<Options, "json" | "markdown" | "plot" | "results">;

export function hand({ json, markdown: asMarkdown, plot, results }: Outputs, report: Report): void {
  if (json !== null) writeFileSync(json, jsonText(report));
  if (plot !== null) writeFileSync(plot, plotOf([report]));
  if (results !== null) writeResults(results, report);
  process.stdout.write(`\n${asMarkdown ? markdown(report) : plainText(report)}\n`);
}

function writeResults(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  const write = (ending: string, text: string): void =>
    writeFileSync(join(folder, `${report.store.name}.${ending}`), text);
  write("json", jsonText(report));
  write("svg", plotOf([report]));
  write("md", page(report));
}

function page(report: Report): string {
  const { name, title } = report.store;
  return [
    `# ${title}`,
    "What the lines mean and how to read them is in [README.md](../README.md); every figure of every round is in " +
      `[${name}.json](${name}.json).`,
    `![Throughput and latency](${name}.svg)`,
    `${markdown(report)}\n`,
  ].join("\n\n");
}

/** Six digits are more than any of them means. */
function jsonText(report: Report): string {
  const short = (_key: string, value: unknown): unknown =>
    typeof value === "number" ? Number(value.toPrecision(6)) : value;
  return `${JSON.stringify(report, short, 2)}\n`;
}
