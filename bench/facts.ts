/** What has to be known to read the figures: machine, settings, rounds, and what went wrong. */
import { numberText } from "./number-text.ts";
import type { Report } from "./report.ts";

export function factsOf(report: Report): readonly string[] {
  return [
    `${roundsText(report)} ${report.store.about}. ${machineText(report)}`,
    ...report.libraries.map(({ title, version, settings, notes }) =>
      `${title} ${version}: ${settings}. ${notes}`.trim(),
    ),
    ...report.failures.map(({ workload, reason }) => `${workload} failed: ${reason}`),
    ...report.warnings.map((warning) => `The server is not as it should be: ${warning}`),
    ...rowDifferenceTexts(report),
  ];
}

function roundsText({ repeat, quick, workloads }: Report): string {
  const fewer = workloads.filter(({ rounds }) => rounds.length !== repeat);
  const others = fewer.map(({ name, rounds }) => `${name} ${rounds.length}`).join(", ");
  const rounds = repeat === 1 ? "One round" : `Medians of ${repeat} rounds (smallest-largest)`;
  return `${rounds}${others && ` (${others})`}, ratios round by round${quick ? "; quick sizes, too small to mean much" : ""}.`;
}

function machineText({ machine, day, seconds }: Report): string {
  return (
    `Node ${machine.node}, ${machine.system}, ` +
    `${machine.cores} x ${machine.processor}, ${machine.memoryGiB} GiB. ` +
    `Appending 4 KiB durably takes ${numberText(machine.fsyncMs)} ms. ` +
    `Load ${numberText(machine.loadBefore)} before and ${numberText(machine.loadAfter)} after; ` +
    `${Math.round(seconds)} s in all, on ${day}.`
  );
}

function rowDifferenceTexts({ rowDifferences }: Report): readonly string[] {
  if (rowDifferences.length === 0) return [];
  const list = rowDifferences.map((difference) => `- ${difference}`).join("\n");
  return [
    `The rows written by hand are not the engine's any more, so the raw figures may be wrong. Repair bench/raw:\n\n${list}`,
  ];
}
