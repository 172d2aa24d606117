export { claimScript } from "./claim.lua.ts";
export * from "./histories.lua.ts";
export * from "./instances.lua.ts";
export { releaseScript, renewScript } from "./leases.lua.ts";
export { listInstancesScript } from "./list-instances.lua.ts";
export { greetScript, migrateScript } from "./migrate.lua.ts";
export { forgetPublicationsScript, pruneScript, removeScript } from "./removal.lua.ts";
export type { Script } from "./script.ts";
export { writeScript } from "./write.lua.ts";
