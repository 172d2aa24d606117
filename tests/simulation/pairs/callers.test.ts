import { callerPairs } from "./all-pairs.ts";
import { describePairs } from "./describe-pairs.ts";

describePairs(callerPairs, {
  file: "tests/simulation/pairs/callers.test.ts",
  known: {
    "restart and skip the sleep, suspended":
      "a skip that was decided on before the restart skips the sleep of the next run",
  },
});
