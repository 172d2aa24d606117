import { memoryData } from "../small-world/small-data.ts";
import { describeSweep } from "./describe-sweep.ts";
import { stepPrograms } from "./programs/steps.ts";

describeSweep(stepPrograms, { file: "tests/simulation/sweep/steps.test.ts", data: memoryData });
