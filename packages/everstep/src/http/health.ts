import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import type { Runtime } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import type { Health } from "../wire/index.ts";

/** How long the store may take before it counts as out of reach. */
const storeMs = 1000;

/** None where the store does not say in time. */
export async function warningsOf({
  store,
  runtime,
}: Pick<AppParts, "store" | "runtime">): Promise<Health["store"]["warnings"]> {
  return (await answered(runtime, async () => (await store.warnings?.()) ?? [])) ?? [];
}

export async function healthOf(app: App, parts: AppParts): Promise<Health> {
  const { store, runtime, runner } = parts;
  const pending = await answered(
    runtime,
    async () => (await store.migrate({ plan: true })).statements.length,
  );
  const warnings = await warningsOf(parts);
  return {
    ok: pending === 0 && !runner.isStopping,
    store: { reachable: pending !== null, migrationsPending: pending, warnings },
    runner: { running: runner.isRunning },
    workflows: (await app.manifest()).map(({ name }) => name),
  };
}

/** Null where there was no answer in time. */
async function answered<Value>(runtime: Runtime, question: () => Promise<Value>): Promise<Value | null> {
  const answer = await withTimeout(runtime, storeMs, question()).catch(() => timedOut);
  return typeof answer === "symbol" ? null : (answer as Value);
}
