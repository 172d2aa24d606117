import type { Story } from "../story.ts";
import { branches } from "./branches.ts";
import { lives } from "./lives.ts";
import { steps } from "./steps.ts";
import { valueStories } from "./values.ts";
import { waits } from "./waits.ts";

export const stories: readonly Story[] = [...steps, ...branches, ...waits, ...valueStories, ...lives];
