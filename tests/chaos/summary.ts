import { findOverlaps } from "./audit/overlaps.ts";
import { type Evidence, runName } from "./evidence.ts";
import { grouped } from "./grouped.ts";

/** What happened, in one line. */
export function summaryOf(evidence: Evidence, faults: Readonly<Record<string, number>>): string {
  const { journeys, errands, ledger, receipts } = evidence;
  const runs = [...journeys, ...errands].flatMap((instance) => instance.runs);
  const begun = ledger.filter(({ kind }) => kind === "begin").length;
  const overlaps = findOverlaps(evidence);
  const decisions = grouped(receipts.decisions, ({ kind }) => kind);
  const problems = grouped(
    ledger.filter((line) => line.kind === "problem"),
    ({ code }) => code,
  );
  const parts = [
    `${journeys.length} journeys and ${errands.length} errands in ${runs.length} runs`,
    `${begun} bodies begun, ${countRepeats(evidence)} of them cut off and run again`,
    ...Object.entries(faults).map(([kind, count]) => `${count} ${kind}`),
    ...[...decisions].map(([kind, made]) => `${made.length} ${kind}`),
    `${receipts.letters.length} letters`,
    `${receipts.publications.length} publications`,
    `${unknownOf(receipts)} answers unknown`,
    `${overlaps.length} overlaps (${overlaps.filter(({ explained }) => explained).length} explained)`,
    ...[...problems].map(([code, lines]) => `${lines.length} ${code}`),
  ];
  return parts.join(", ");
}

function unknownOf({ creations, letters, publications, decisions }: Evidence["receipts"]): number {
  return [...creations, ...letters, ...publications, ...decisions].filter(
    ({ answer }) => answer === "unknown",
  ).length;
}

/** Starts beyond the recorded attempts of their steps. */
function countRepeats({ journeys, errands, ledger }: Evidence): number {
  const begins = grouped(
    ledger.filter((line) => line.kind === "begin"),
    ({ body }) => body,
  );
  let repeats = 0;
  for (const instance of [...journeys, ...errands]) {
    for (const run of instance.runs) {
      for (const { stepKey, attempts } of run.steps) {
        const starts = begins.get(`${runName(instance, run)}/${stepKey}`)?.length ?? 0;
        repeats += Math.max(0, starts - attempts);
      }
    }
  }
  return repeats;
}
