import { mixedPairs, runnerPairs, sharedPairs } from "./all-pairs.ts";
import { describePairs } from "./describe-pairs.ts";

describePairs([...mixedPairs, ...runnerPairs, ...sharedPairs], "tests/simulation/pairs/runners.test.ts");
