/** Every store in turn, each with a server of its own, and the summary of what they came to. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type StoreName, storeNames } from "./grounds/ground.ts";
import type { Options } from "./options.ts";
import { writeSummary } from "./summary/write.ts";

const starter = join(import.meta.dirname, "..", "scripts", "up.mjs");

/** What differs from SQLite with synchronous FULL is measured; the rest would be the same once more. */
const only: Partial<Record<StoreName, string>> = {
  "sqlite-normal": "limits,throughput,latency,timers,events,long",
};

/** Gives the exit code. A store that fails does not keep the others from being measured. */
export async function measureAllStores(args: readonly string[], options: Options): Promise<number> {
  let exitCode = 0;
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => interrupted.abort(signal));
  const others = args.filter((arg) => arg !== "--all");
  const isChosen = args.some((arg) => arg === "--only" || arg.startsWith("--only="));
  for (const store of storeNames) {
    if (interrupted.signal.aborted) return exitCode;
    const less = only[store];
    const extra = less !== undefined && !isChosen ? ["--only", less] : [];
    const code = await run(["bench", ...others, ...extra, "--store", store], interrupted.signal);
    if (code !== 0) exitCode = code;
  }
  if (options.results !== null) writeSummary(options.results);
  return exitCode;
}

/** Whoever stops us stops what we started, which cleans up and says how it ended. */
function run(args: readonly string[], interrupted: AbortSignal): Promise<number> {
  return new Promise((settle) => {
    const child = spawn(process.execPath, [starter, ...args], { stdio: "inherit" });
    const stop = (): void => void child.kill(interrupted.reason);
    interrupted.addEventListener("abort", stop);
    const end = (code: number | null): void => {
      interrupted.removeEventListener("abort", stop);
      settle(code ?? 1);
    };
    child.once("error", () => end(1));
    child.once("exit", end);
  });
}
