import { describeSweep } from "./describe-sweep.ts";
import { steeringPrograms } from "./programs/steering.ts";
import { stepPrograms } from "./programs/steps.ts";
import { waitPrograms } from "./programs/waits.ts";
import { sqliteData } from "./sqlite-data.ts";

describeSweep([...stepPrograms, ...waitPrograms, ...steeringPrograms], {
  file: "tests/simulation/sweep/sqlite.test.ts",
  data: sqliteData,
  every: 13,
});
