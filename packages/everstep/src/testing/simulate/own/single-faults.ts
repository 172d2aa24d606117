/**
 * Worlds with a single fault each, one for every place where the world without any has one: each body is cut off before
 * and after its work, each write is lost, or its answer. Most mistakes show in one of these, and nowhere are they told
 * more simply; the seeds are for what takes more than one thing to go wrong.
 */
import type { Tape } from "../choices.ts";
import { type Fate, fates } from "../weather.ts";
import { type BodyFate, bodyFates, type Faults, isWanted } from "./faults.ts";

/** Most telling first. Standing still matters only where another process can take over. */
const ofBodies: readonly BodyFate[] = [
  "killed after",
  "killed before",
  "frozen after",
  "frozen before",
  "fails after",
  "fails before",
  "too slow",
];
const ofWrites: readonly Fate[] = ["crash after", "crash before", "reply lost", "late"];
const twoProcesses: Tape = { "weather: runners": [1] };

/** `calm`: what was drawn in the world without any fault. At most `count` of them, evenly spread where there are more. */
export function singleFaults(calm: Tape, faults: Faults, count: number): readonly Tape[] {
  const labels = Object.keys(calm);
  const bodies = labels.filter((label) => label.startsWith('body "'));
  const repeated = labels.filter((label) => label.endsWith(" repeated"));
  const all = [
    ...ofBodies
      .filter((fate) => isWanted(fate, faults))
      .flatMap((fate) =>
        bodies.flatMap((label) => at(calm, label, bodyFates.indexOf(fate), settingFor(fate))),
      ),
    ...repeated.flatMap((label) => at(calm, label, 1)),
    ...ofWrites
      .filter((fate) => isWanted(fate, faults))
      .flatMap((fate) => at(calm, "fate of write", fates.indexOf(fate))),
  ];
  const step = Math.max(1, all.length / count);
  return Array.from({ length: Math.min(count, all.length) }, (_, n) => all[Math.floor(n * step)] as Tape);
}

/** One for each time it was drawn. */
function at(calm: Tape, label: string, value: number, setting: Tape = {}): readonly Tape[] {
  return (calm[label] ?? []).map((_, place) => ({ ...setting, [label]: [...Array(place).fill(0), value] }));
}

function settingFor(fate: BodyFate): Tape {
  return fate.startsWith("frozen") ? twoProcesses : {};
}
