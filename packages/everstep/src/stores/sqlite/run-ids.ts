/** Ids of runs: they only grow and are never used again, also after the newest run was removed. */
import { EverstepError } from "../../model/error.ts";
import type { Connection } from "./connection.ts";

export interface RunIds {
  /** Sets aside as many ids as the transaction at hand can need; those it does not take are lost. */
  reserve(count: number): void;
  take(): number;
}

export function runIds({ db, names }: Connection): RunIds {
  const advance = db.prepareTuples(
    `UPDATE ${names.meta} SET value = value + ? WHERE name = 'last_run' RETURNING value`,
  );
  let last = 0;
  let taken = 0;
  return {
    reserve(count) {
      last = count === 0 ? 0 : (advance.get(count)?.[0] as number);
      taken = last - count;
    },
    take() {
      if (taken === last)
        throw new EverstepError("STORE_FAILED", "More runs were begun than ids were set aside.");
      taken += 1;
      return taken;
    },
  };
}
