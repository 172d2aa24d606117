/** Work of a process that is gone goes on elsewhere in good time (LIV-2). */
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import { runName } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import type { Weather } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import type { World } from "../../../packages/everstep/src/testing/simulate/world.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";

/** A process that found the store out of reach leaves it alone for this long at most, and everybody needs a moment. */
const restMs = 20_000;

/** Called when the faults are over: whoever's lease runs out from now on is claimed by somebody with a place free. */
export function expectRecovery(
  { world, watch, weather }: { readonly world: World; readonly watch: Watch; readonly weather: Weather },
  found: (finding: Finding) => void,
): void {
  const { concurrency, maxPoll, maxMemoryBytes } = weather.settings;
  if (concurrency < 8 || weather.cap !== null || weather.skewMs > 0) return;
  for (const facts of watch.facts.values()) {
    if (!isLeftBehind(facts, watch)) continue;
    const { record } = facts;
    const dueMs = Math.max(0, (record.dueAt ?? 0) - world.now);
    world.after(dueMs + maxPoll * 1.5 + restMs + 6 * weather.latencyMsMax, () => {
      const now = watch.facts.get(runName(record))?.record;
      if (now === undefined || now.token !== record.token) return;
      if (isTerminal(now.status) || now.status === "paused") return;
      if (maxMemoryBytes <= littleMemory && isAnyAtWork(watch)) return;
      const message = `${runName(record)} was left by a dead process and nobody took it up in ${Math.round(dueMs + maxPoll * 1.5 + restMs)} ms`;
      found({ invariant: "LIV-2", message });
    });
  }
}

/** Runs that a process with so little memory has in hand may leave no room for another. */
const littleMemory = 5000;

function isAnyAtWork({ facts, leases }: Watch): boolean {
  return [...facts.values()].some(
    ({ record }) => record.executing && leases.holderOf(record.runId)?.process.state === "running",
  );
}

/** For the first time: later ones wait longer on purpose. */
function isLeftBehind({ record, isCurrent }: RunFacts, watch: Watch): boolean {
  const holder = watch.leases.holderOf(record.runId);
  return isCurrent && record.executing && record.crashCount === 0 && holder?.process.state === "dead";
}
