/** Worlds in which something was broken once, made small and kept: none of them may break anything again. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tape } from "../../packages/everstep/src/testing/simulate/choices.ts";
import { exploreOn, type Mode } from "./batch.ts";
import type { Explored, ExploreOptions } from "./explore/explore.ts";
import { openerOf, type StoreName } from "./stores.ts";

export interface KeptCase {
  /** What was wrong, in a sentence. */
  readonly about: string;
  readonly invariant: string;
  /** The seed still makes the ids and the jitter. */
  readonly seed: number;
  readonly mode: Mode;
  readonly tape: Tape;
  /** Where it was found; memory unless said. */
  readonly store?: StoreName;
  /** Kinds of faults it may have. */
  readonly faults?: NonNullable<ExploreOptions["faults"]>;
}

const folder = join(import.meta.dirname, "corpus");

export function keptNames(): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".json"));
}

export function readCase(name: string): KeptCase {
  return JSON.parse(readFileSync(join(folder, name), "utf8"));
}

export function keep(name: string, kept: KeptCase): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`, { flag: "wx" });
  return file;
}

export function replayCase({ seed, mode, tape, store = "memory", faults }: KeptCase): Promise<Explored> {
  return exploreOn(openerOf(store), seed, { mode, tape, ...(faults ? { faults } : {}) });
}
