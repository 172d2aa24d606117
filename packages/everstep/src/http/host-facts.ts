import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import { healthOf } from "./health.ts";
import { kept, keptFor } from "./kept.ts";
import { overviewOf } from "./overview.ts";
import type { CallHost } from "./route.ts";

/** Everybody may ask whether it is ready, and the store is asked no more often than this. */
const readyMs = 1000;

/** What all requests are told of the app itself, found out now and then. */
export function hostFacts(
  app: App,
  parts: AppParts,
  kill: (() => void) | undefined,
): Pick<CallHost, "overview" | "isReady" | "kill"> {
  const isWell = keptFor(parts.runtime, readyMs, () => healthOf(app, parts));
  return {
    overview: kept(parts.runtime, () => overviewOf(app, parts, kill !== undefined)),
    isReady: async () => (await isWell()).ok && !parts.runner.isStopping,
    kill,
  };
}
