import type { Gap } from "./named-ids.ts";

/** Scenarios about what does not exist here, or not yet. Whoever builds it takes its row away and writes the test. */
export const scenariosNotApplicable: readonly Gap[] = [
  {
    id: "R-052",
    reason: "There are no schedules, so none can fire twice or not at all when the clocks change.",
  },
  { id: "R-053", reason: "There are no schedules that several processes could register or fire." },
  {
    id: "R-065",
    reason: "Bodies run in the process itself; there is no worker thread or isolate that could die.",
  },
];

/** Scenarios of which a part is tested and the rest is about what does not exist yet. */
export const scenariosInPart: readonly Gap[] = [
  { id: "R-055", reason: "Chains of sleeps are tested; there are no interval schedules." },
];

export const invariantsNotApplicable: readonly Gap[] = [{ id: "INV-32", reason: "There are no schedules." }];
