import { parseDuration } from "../authoring/duration.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { runnerDefaults } from "../model/limits.ts";
import type { StopReport } from "../runner/runner.ts";
import { StopPatience } from "../runner/stop-patience.ts";
import type { StopOptions } from "./app-options.ts";
import type { BuiltApp } from "./build-app.ts";

const stopNames: NamesOf<StopOptions> = { grace: true, until: true };

/** Gives what stops an app: once, however often it is called. */
export function stopperOf(built: BuiltApp): (options?: StopOptions) => Promise<StopReport> {
  let stopping: Promise<StopReport> | null = null;
  return async (options = {}) => {
    checkNames(options, stopNames, "stop");
    const graceMs = parseDuration(options.grace ?? runnerDefaults.stopGraceMs, "grace");
    if (built.access.isStopped && stopping === null) return { finished: 0, released: 0 };
    // Asked again while it stops, the answer is that of the first.
    stopping ??= stop(built, graceMs, options.until).finally(() => {
      stopping = null;
    });
    return stopping;
  };
}

async function stop(
  { parts, access, hints }: BuiltApp,
  graceMs: number,
  until: PromiseLike<unknown> | undefined,
): Promise<StopReport> {
  const time = new StopPatience(parts.runtime);
  const report = await parts.runner.stop(graceMs, time);
  await Promise.allSettled([until]);
  access.stop();
  parts.endings.stop();
  parts.nudges.stop();
  await time.wait(parts.group.settled());
  await hints?.stop(time.leftMs);
  access.patience.stop();
  // It waits for calls under way, and a server that has fallen silent answers none of them.
  await time.wait(parts.store.close());
  return report;
}
