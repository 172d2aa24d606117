/** One world again, with everything that happened in it, and made small if wanted. */
import type { Tape } from "../../packages/everstep/src/testing/simulate/choices.ts";
import { signatureOf } from "../../packages/everstep/src/testing/simulate/finding.ts";
import { choicesLeft, shrink } from "../../packages/everstep/src/testing/simulate/shrink.ts";
import { exploreOn, type Mode } from "./batch.ts";
import { keep, readCase, replayCase } from "./corpus.ts";
import type { Explored } from "./explore/explore.ts";
import type { Options } from "./options.ts";
import { openerOf } from "./stores.ts";

/** How long a world is made smaller at most. */
const shrinkMs = 60_000;

export async function replaySeed(seed: number, options: Options): Promise<number> {
  const openData = openerOf(options.store);
  const { faults } = options;
  let broken = false;
  for (const mode of options.modes) {
    const explored = await exploreOn(openData, seed, { mode, ...(faults ? { faults } : {}) });
    const small = options.shrink && explored.finding ? await made(explored, mode, options) : explored;
    print(small);
    broken ||= explored.finding !== null;
  }
  return broken ? 1 : 0;
}

export async function replayKept(name: string): Promise<number> {
  const kept = readCase(name);
  console.log(`${kept.about} (${kept.invariant})`);
  const explored = await replayCase(kept);
  print(explored);
  return explored.finding ? 1 : 0;
}

/** The smallest world with the same fault. */
async function made(
  explored: Explored,
  mode: Mode,
  { keep: name, store, faults }: Options,
): Promise<Explored> {
  const { seed, finding } = explored;
  if (!finding || typeof seed !== "number") return explored;
  const wanted = signatureOf(finding);
  const openData = openerOf(store);
  const options = { mode, ...(faults ? { faults } : {}) };
  const isSame = async (tape: Tape): Promise<boolean> => {
    const tried = await exploreOn(openData, seed, { ...options, tape, momentsMax: explored.moments * 2 });
    return tried.finding !== null && signatureOf(tried.finding) === wanted;
  };
  const onProgress = (tries: number, left: number): void => {
    if (tries % 100 === 0) console.log(`${tries} worlds tried, ${left} choices left`);
  };
  const deadline = performance.now() + shrinkMs;
  const isOver = (): boolean => performance.now() > deadline;
  const tape = await shrink(explored.tape(), isSame, { onProgress, isOver });
  console.log(`Made small: ${choicesLeft(tape)} choices of ${choicesLeft(explored.tape())} are left.`);
  if (name !== null) {
    const about = `${finding.invariant}: ${finding.message}`;
    console.log(
      `Kept as ${keep(name, { about, invariant: finding.invariant, seed, mode, tape, ...(store === "memory" ? {} : { store }), ...(faults ? { faults } : {}) })}`,
    );
  }
  return exploreOn(openData, seed, { ...options, tape });
}

function print(explored: Explored): void {
  const { seed, mode, finding, weather, calls, hash, elapsedMs } = explored;
  for (const line of explored.trace()) console.log(line);
  console.log(
    `\nseed ${seed}, ${mode}, node ${process.version}, ${calls} store calls, ${Math.round(elapsedMs)} ms, ${hash}`,
  );
  console.log(`weather ${JSON.stringify(weather)}`);
  console.log(finding ? `BROKEN ${finding.invariant}: ${finding.message}` : "No promise was broken.");
}
