/** Mistakes that no simulated world can show, with the reason, and the ordinary test that notices them instead. */
import type { Unseen } from "./mutant.ts";

export const unseen: readonly Unseen[] = [];
