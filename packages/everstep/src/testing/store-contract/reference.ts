import { memory } from "../../stores/memory/index.ts";
import type { Case } from "./case.ts";
import { RandomStory } from "./random-story.ts";

const seeds = Array.from({ length: 10 }, (_unused, n) => n + 1);

/** What no list of cases can name: any mixture of requests, in any order, is answered as the reference store does. */
export const referenceCases: readonly Case[] = seeds.map((seed) => ({
  name: `the same story gives the same answers as the reference store (seed ${seed})`,
  async run({ open }) {
    for (const part of [0, 1, 2]) {
      await new RandomStory([await open(), memory()], 10 * seed + part).tell(150);
    }
  },
}));
