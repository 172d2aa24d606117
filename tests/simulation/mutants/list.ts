/** All mutants that the simulation must notice. Those that it cannot are in unseen.ts. */
import { claims } from "./claims.ts";
import { eventMutants } from "./events.ts";
import { fencing } from "./fencing.ts";
import { leaseMutants } from "./leases.ts";
import { lifecycle } from "./lifecycle.ts";
import { liveness } from "./liveness.ts";
import type { Mutant } from "./mutant.ts";
import { nameMutants } from "./names.ts";
import { observerMutants } from "./observers.ts";
import { renewals } from "./renewals.ts";
import { repeats } from "./repeats.ts";
import { replay } from "./replay.ts";
import { sql } from "./sql.ts";
import { steps } from "./steps.ts";

export const mutants: readonly Mutant[] = [
  ...fencing,
  ...claims,
  ...leaseMutants,
  ...repeats,
  ...steps,
  ...replay,
  ...nameMutants,
  ...eventMutants,
  ...lifecycle,
  ...liveness,
  ...renewals,
  ...sql,
  ...observerMutants,
];
