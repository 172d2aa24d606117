import { memoryData } from "../small-world/small-data.ts";
import { describeSweep } from "./describe-sweep.ts";
import { waitPrograms } from "./programs/waits.ts";

describeSweep(waitPrograms, { file: "tests/simulation/sweep/waits.test.ts", data: memoryData });
