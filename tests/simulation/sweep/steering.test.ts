import { memoryData } from "../small-world/small-data.ts";
import { describeSweep } from "./describe-sweep.ts";
import { steeringPrograms } from "./programs/steering.ts";

describeSweep(steeringPrograms, { file: "tests/simulation/sweep/steering.test.ts", data: memoryData });
