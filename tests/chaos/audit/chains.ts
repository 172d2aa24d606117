/**
 * No recorded result was ever replaced, and no completed step ran again. A body begins only when everything its workflow
 * was given before is durable, and it writes down what that was: so what any start of any body has seen must be what
 * the records say, and once it has been seen, its step must not begin again. A step that says so never begins again.
 *
 * One thing may be: a process that was frozen (or starved) in the instant between looking at its lease and entering the
 * body enters it when it wakes up, whatever happened meanwhile. No engine can prevent that; the result is refused.
 * And what a failover lost is gone: what was seen of it was seen before it was lost, and never after.
 */

import { type Evidence, type RunEvidence, runName } from "../evidence.ts";
import { grouped } from "../grouped.ts";
import type { BeginLine } from "../ledger.ts";
import { isHeldInVain, seesLost } from "../losses.ts";
import { wasAway } from "./gaps.ts";
import { tokensOf } from "./tokens.ts";

export function auditChains(evidence: Evidence): string[] {
  const beginsByRun = grouped(
    evidence.ledger.filter((line) => line.kind === "begin"),
    ({ body }) => body.split("/").slice(0, 3).join("/"),
  );
  const runs = [...evidence.journeys, ...evidence.errands].flatMap((instance) =>
    instance.runs.map((run) => ({ name: runName(instance, run), run })),
  );
  const known = new Set(runs.map(({ name }) => name));
  return [
    ...[...beginsByRun]
      .filter(([name, begins]) => !known.has(name) && !begins.every((begin) => seesLost(begin, evidence)))
      .map(([name]) => `${name} ran and is not there`),
    ...runs.flatMap(({ name, run }) => auditRun(name, run, beginsByRun.get(name) ?? [], evidence)),
  ];
}

function auditRun(
  name: string,
  run: RunEvidence,
  begins: readonly BeginLine[],
  evidence: Evidence,
): string[] {
  const { leaseMs, losses } = evidence;
  const recorded = tokensOf(run);
  const faults: string[] = [];
  const begun = new Map<string, number>();
  /** By step key: when a later body first proved that the step was recorded. */
  const provedAt = new Map<string, number>();
  for (const begin of begins) {
    const key = keyOf(begin);
    const isInVain = (at: number): boolean => isHeldInVain(at, at, leaseMs, losses);
    const before = begun.get(key);
    if (/once$/.test(key) && before !== undefined && !isInVain(before) && !isInVain(begin.at))
      faults.push(`${name}: ${key} began again, which it never must`);
    begun.set(key, begin.at);
    const proved = provedAt.get(key);
    if (proved !== undefined && !wasAway(begin.pid, proved, begin.at, evidence) && !isInVain(begin.at)) {
      faults.push(`${name}: ${key} began again ${ms(begin.at - proved)} after its result had been used`);
    }
    for (const token of begin.seen) {
      const step = recorded.get(token);
      // What it saw may have been lost, and done again since.
      if (seesLost(begin, evidence)) continue;
      if (isInVain(begin.at) && outerOf(begin, begins).some((outer) => seesLost(outer, evidence))) continue;
      if (!step) faults.push(`${name}: ${key} (start ${begin.start}) saw "${token}", which is not recorded`);
      else if (!provedAt.has(step.stepKey)) provedAt.set(step.stepKey, begin.at);
    }
  }
  return faults;
}

/** The starts of the body it began in, in the same process. */
function outerOf(begin: BeginLine, begins: readonly BeginLine[]): readonly BeginLine[] {
  const key = keyOf(begin);
  const { pid, at } = begin;
  return begins.filter((other) => other.pid === pid && other.at < at && key.startsWith(`${keyOf(other)}/`));
}

function keyOf({ body }: BeginLine): string {
  return body.split("/").slice(3).join("/");
}

function ms(time: number): string {
  return `${time.toFixed(1)} ms`;
}
