/** Throughput and latency as one SVG, readable on light and dark ground, without anything from elsewhere. */
import { numberText } from "../number-text.ts";
import type { Report } from "../report.ts";
import { type Bar, type Chart, chartsOf, type Group } from "./bars.ts";
import { type LogScale, logScale } from "./log-scale.ts";

const width = 860;
const left = 190;
const right = 150;
const barHeight = 16;
const barGap = 6;
const groupGap = 30;
const headHeight = 46;
const footHeight = 34;

const style = `
  svg { background: #ffffff; }
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 15px; }
  .group { font-weight: 600; }
  .tick, .note { font-size: 11px; fill: #57606a; }
  .grid { stroke: #d0d7de; }
  .spread { stroke: #24292f; }
  .everstep { fill: #0969da; }
  .raw { fill: #8c959f; }
  .alternative { fill: #bf8700; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #e6edf3; }
    .tick, .note { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .spread { stroke: #e6edf3; }
    .everstep { fill: #4493f8; }
    .raw { fill: #656c76; }
    .alternative { fill: #d29922; }
  }`;

export function plotOf(reports: readonly Report[]): string {
  let y = 0;
  const parts = chartsOf(reports).map((chart) => {
    const drawn = drawChart(chart, y);
    y += heightOf(chart);
    return drawn;
  });
  const note = "Medians on a logarithmic scale; the thin lines are the smallest and the largest round.";
  const height = y + 24;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Throughput and latency">`,
    `<style>${style}\n</style>`,
    ...parts,
    text(10, height - 10, note, "note"),
    "</svg>\n",
  ].join("\n");
}

function heightOf({ groups }: Chart): number {
  return headHeight + groups.reduce((sum, group) => sum + groupHeight(group), 0) + footHeight;
}

function groupHeight({ bars }: Group): number {
  return groupGap + bars.length * (barHeight + barGap);
}

function drawChart(chart: Chart, top: number): string {
  const values = chart.groups.flatMap(({ bars }) => bars.flatMap(({ value }) => [value.min, value.max]));
  const scale = logScale(values);
  const bottom = top + heightOf(chart) - footHeight;
  const parts = [
    text(10, top + 26, chart.title, "title"),
    ...drawGrid(scale, top + headHeight, bottom, chart.unit),
  ];
  let y = top + headHeight;
  for (const group of chart.groups) {
    parts.push(text(10, y + groupGap - 10, group.title, "group"));
    y += groupGap;
    for (const bar of group.bars) {
      parts.push(drawBar(bar, scale, y));
      y += barHeight + barGap;
    }
  }
  return parts.join("\n");
}

function drawGrid(scale: LogScale, top: number, bottom: number, unit: string): readonly string[] {
  return scale.ticks.flatMap((tick) => {
    const x = placeX(scale, tick);
    const label = `${tick < 1 ? tick : numberText(tick)} ${unit}`;
    return [
      `<line class="grid" x1="${x}" y1="${top}" x2="${x}" y2="${bottom}"/>`,
      text(x, bottom + 16, label, "tick", "middle"),
    ];
  });
}

function drawBar({ kind, label, value }: Bar, scale: LogScale, y: number): string {
  const [end, low, high] = [value.median, value.min, value.max].map((each) => placeX(scale, each));
  const middle = y + barHeight / 2;
  return [
    text(left - 8, y + 13, label, "", "end"),
    `<rect class="${kind}" x="${left}" y="${y}" width="${Math.max(1, (end ?? left) - left)}" height="${barHeight}" rx="2"/>`,
    `<line class="spread" x1="${low}" y1="${middle}" x2="${high}" y2="${middle}"/>`,
    text((high ?? left) + 8, y + 13, numberText(value.median)),
  ].join("\n");
}

function placeX(scale: LogScale, value: number): number {
  return Math.round(left + scale.place(value) * (width - left - right));
}

function text(x: number, y: number, content: string, kind = "", anchor = "start"): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${x}" y="${y}"${kind && ` class="${kind}"`} text-anchor="${anchor}">${escaped}</text>`;
}
