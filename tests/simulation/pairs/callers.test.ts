import { callerPairs } from "./all-pairs.ts";
import { describePairs } from "./describe-pairs.ts";

describePairs(callerPairs, "tests/simulation/pairs/callers.test.ts");
