/**
 * Has every pair meet in every order, with every single fault. A way that fails prints its world and how to have it
 * alone: EVERSTEP_PAIR="0,1,0", the choices that lead there.
 */
import { describe, expect, test } from "vitest";
import { everyWay } from "./merge-orders.ts";
import { anyOrder, oneAfterTheOther, type Pair, type PairWorld, pairName, runPair } from "./pair.ts";

const wanted = process.env.EVERSTEP_PAIR;
/** Failures that are told in full. */
const toldMax = 3;

/** `file`: the one that runs them. */
export function describePairs(pairs: readonly Pair[], file: string): void {
  describe("INV-35, INV-37, INV-49, LIV-1 at the same time, in every order and with every single fault, both are answered and all comes to its end", () => {
    for (const pair of pairs) test(pairName(pair), () => meet(pair, file));
  });
}

async function meet(pair: Pair, file: string): Promise<void> {
  if (wanted !== undefined) return showWay(pair, wanted);
  const permitted = await permittedBy(pair);
  const failures: string[] = [];
  const ways = await everyWay(async (choose, chosen) => {
    const world = await runPair(pair, anyOrder(choose, true));
    const failure = failureOf(world, permitted);
    if (failure) failures.push(report(pair, failure, chosen(), world, file));
    return true;
  });
  if (failures.length > 0) throw new Error(tell(failures, ways));
  // Silence is not success.
  expect(ways).toBeGreaterThan(6);
}

/** INV-35: what the operations come to one after the other. */
async function permittedBy(pair: Pair): Promise<ReadonlySet<string> | null> {
  if (!pair.one.isAtomic || !pair.other.isAtomic) return null;
  const worlds = [
    await runPair(pair, oneAfterTheOther("one")),
    await runPair(pair, oneAfterTheOther("other")),
  ];
  for (const { finding, trace } of worlds) expect(finding, trace().join("\n")).toBeNull();
  return new Set(worlds.map(({ came }) => came));
}

function failureOf({ finding, came }: PairWorld, permitted: ReadonlySet<string> | null): string | null {
  if (finding) return `${finding.invariant}: ${finding.message}`;
  if (permitted === null || permitted.has(came)) return null;
  return `INV-35: it came to\n${came}\nand one after the other to\n${[...permitted].join("\nor\n")}`;
}

async function showWay(pair: Pair, way: string): Promise<void> {
  const given = way.split(",").map(Number);
  let at = 0;
  const world = await runPair(
    pair,
    anyOrder(() => given[at++] ?? 0, true),
  );
  console.log([world.order, world.came, ...world.trace()].join("\n"));
  const failure = failureOf(world, await permittedBy(pair));
  if (failure) throw new Error(failure);
}

function report(
  pair: Pair,
  failure: string,
  chosen: readonly number[],
  world: PairWorld,
  file: string,
): string {
  const name = pairName(pair);
  return [
    failure,
    `pair:  ${name}`,
    `order: ${world.order}`,
    `alone: EVERSTEP_PAIR="${chosen.join()}" npx vitest run ${file} -t "${name}"`,
    ...world.trace(),
  ].join("\n");
}

function tell(failures: readonly string[], ways: number): string {
  const told = failures.slice(0, toldMax).join("\n\n");
  return `${failures.length} of ${ways} ways broke a promise; the first of them:\n\n${told}`;
}
