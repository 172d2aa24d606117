export { beatScript, listRunnersScript, readTalliesScript } from "./beats.lua.ts";
export { claimScript, releaseScript, renewScript } from "./claim.lua.ts";
export {
  addTopicsScript,
  listEventsScript,
  listLogsScript,
  listStepsScript,
  listTopicsScript,
  listWaitersScript,
  readRunsScript,
} from "./histories.lua.ts";
export {
  countScript,
  getInstanceScript,
  getInstancesScript,
  getMarksScript,
  getStatusesScript,
  listDueScript,
  listInstancesScript,
  listRunsScript,
  nextDueScript,
} from "./instances.lua.ts";
export { lookScript, saveScript } from "./long.lua.ts";
export { greetScript, migrateScript } from "./migrate.lua.ts";
export type { Script } from "./prelude.lua.ts";
export { quickScript } from "./quick.lua.ts";
export {
  countUnlistedScript,
  deleteScript,
  findDeletableScript,
  forgetPublicationsScript,
  listUnlistedScript,
  pruneScript,
  relistScript,
} from "./upkeep.lua.ts";
