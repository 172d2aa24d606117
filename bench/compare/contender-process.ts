/** A compared library in a process of its own, as the bench sees it. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Figures } from "../workload.ts";
import type { Task, Telling } from "./messages.ts";

export interface Found {
  readonly figures: Figures;
  readonly settings: string;
  /** What was not measured, with the reason. */
  readonly lacks: ReadonlyMap<string, string>;
}

/** Starts it, lets it measure everything, and ends it. Throws when it fails as a whole. */
export async function measureContender(task: Task, note: (what: string) => void): Promise<Found> {
  const program = join(import.meta.dirname, "contender-program.ts");
  const child = fork(program, { execArgv: process.execArgv, silent: true });
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors = `${errors}${chunk}`.slice(-1000);
  });
  child.stdout?.resume();
  const figures: Record<string, number> = {};
  const lacks = new Map<string, string>();
  let settings = "";
  const ended = once(child, "exit");
  const told = new Promise<void>((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new Error([reason, errors.trim()].filter(Boolean).join("\n")));
    const timer = setTimeout(() => fail("it did not come to an end"), timeMsMax(task));
    ended.then(([code, signal]) => {
      clearTimeout(timer);
      fail(`its process ended with ${signal ?? `exit code ${code}`}`);
    });
    child.on("message", (telling: Telling) => {
      if (telling.kind === "opened") settings = telling.settings;
      else if (telling.kind === "measuring") note(telling.what);
      else if (telling.kind === "measured") Object.assign(figures, telling.figures);
      else if (telling.kind === "lacks") lacks.set(telling.what, telling.reason);
      else if (telling.kind === "done") resolve();
      else fail(telling.reason);
    });
    child.send(task);
  });
  try {
    await told;
    return { figures, settings, lacks };
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
}

/** Enough for every measurement to use up its time several times. */
function timeMsMax({ sizes }: Task): number {
  return 30_000 + 20 * sizes.capMs;
}
