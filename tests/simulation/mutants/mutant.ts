import type { StoreName } from "../stores.ts";

/** Exact text in a file below packages/everstep/src, and what stands there instead. The text must be there once. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A mistake that somebody could make, or has made. The simulation is worth something if it notices every one of them. */
export type Mutant = {
  /** What the mistaken code does. */
  readonly name: string;
  /** The promises that it breaks. */
  readonly guards: readonly string[];
  /** Where it is hunted; the reference store unless said. */
  readonly store?: StoreName;
  /** How many worlds it is hunted in at least, where few of them lead to it. */
  readonly seeds?: number;
} & (Edit | { readonly edits: readonly Edit[] });

/** A mistake that no simulated world can show. */
export type Unseen = Mutant & {
  readonly because: string;
  /**
   * The test that notices it, below packages/everstep/src or in tests/; null where nobody could, because nothing is broken
   * by it.
   */
  readonly noticedBy: string | null;
  /** The server that the test needs; `npm run mutants -- --servers` starts it. */
  readonly needs?: "postgres" | "mysql" | "redis";
};

export function editsOf(mutant: Mutant): readonly Edit[] {
  return "edits" in mutant ? mutant.edits : [mutant];
}

/** The text with the edit made; throws unless what is to be replaced is there exactly once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const places = text.split(find).length - 1;
  if (find === "" || places !== 1) {
    const times = places === 0 ? "is not there" : `is there ${places} times`;
    throw new Error(`What a mutant replaces in ${file} ${times}:\n${find}`);
  }
  return text.replace(find, () => replace);
}
