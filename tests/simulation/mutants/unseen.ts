/** Mistakes that no simulated world can show, each with the reason and the ordinary test that notices it instead. */
import type { Unseen } from "./mutant.ts";
import { unseenInEngine } from "./unseen-engine.ts";
import { unseenInRunner } from "./unseen-runner.ts";
import { unseenOnServers } from "./unseen-servers.ts";
import { unseenOnSqlite } from "./unseen-sqlite.ts";
import { unseenInStore } from "./unseen-store.ts";

export const unseen: readonly Unseen[] = [
  ...unseenInStore,
  ...unseenInEngine,
  ...unseenInRunner,
  ...unseenOnServers,
  ...unseenOnSqlite,
];
