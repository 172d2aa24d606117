/**
 * The child process in which a mutant is hunted: one world after the other until a promise is broken that the code as it
 * is keeps in the same world.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { signatureOf } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Explored, ExploreOptions } from "../explore/explore.ts";
import { openerOf } from "../stores.ts";
import type { Hunted, Hunting } from "./hunt.ts";

type Explore = typeof import("../explore/explore.ts").explore;

const {
  mutated,
  original,
  seedsMax,
  known,
  store = "memory",
} = JSON.parse(process.argv[2] as string) as Hunting;
let seed = 0;

process.on("uncaughtException", (error) => end({ kind: "threw", seed, message: wordsOf(error) }));

const explore = await load(mutated);
tell({ kind: "ready" });
for (seed = 1; seed <= seedsMax; seed++) {
  tell({ kind: "seed", seed });
  const { finding } = await exploreWith(explore, mutated, seed);
  // What the code as it is breaks too says nothing about the mutant.
  if (finding === null || known.includes(signatureOf(finding)) || (await isBrokenAnyway(seed))) continue;
  end({ kind: "found", seed, ...finding, signature: signatureOf(finding) });
  await new Promise(() => {});
}
end({ kind: "survived" });

async function isBrokenAnyway(seed: number): Promise<boolean> {
  if (mutated === original) return false;
  const exploreOriginal = await load(original);
  return (await exploreWith(exploreOriginal, original, seed)).finding !== null;
}

/** On a store of the same sources. */
async function exploreWith(explore: Explore, home: string, seed: number): Promise<Explored> {
  const data = await openerOf(store, home)?.();
  try {
    return await explore(seed, { ...optionsOf(seed), ...(data ? { openData: data.openData } : {}) });
  } finally {
    await data?.close();
  }
}

async function load(home: string): Promise<Explore> {
  const file = join(home, "tests/simulation/explore/explore.ts");
  return (await import(pathToFileURL(file).href)).explore;
}

function optionsOf(seed: number): ExploreOptions {
  return { mode: seed % 2 === 0 ? "liveness" : "safety" };
}

function tell(word: Hunted, then: () => void = () => {}): void {
  process.send?.(word, then);
}

function end(word: Hunted): void {
  tell(word, () => process.exit(0));
}

function wordsOf(error: unknown): string {
  return String((error as Error)?.stack ?? error);
}
