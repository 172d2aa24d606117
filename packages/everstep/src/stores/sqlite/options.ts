import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { EverstepError } from "../../model/error.ts";
import { checkNames, type NamesOf } from "../../model/known-names.ts";
import { checkNamespace } from "../../store/namespace.ts";
import type { SqliteDriver } from "./driver.ts";
import { nodeDriver } from "./driver.ts";

export interface SqliteOptions {
  /** A file on a local disk, created when it is not there, or ":memory:". */
  readonly path: string;
  /**
   * "full" (the default): what was acknowledged survives a power failure. "normal": it survives the death of the
   * process, but a power failure may take the last commits with it; many times faster for single commits.
   */
  readonly synchronous?: "full" | "normal";
  /** How long a call may block while another process writes, at most (and by default) 250 ms. */
  readonly busyTimeoutMs?: number;
  /** Prefix of the table names, by default "everstep". */
  readonly namespace?: string;
  /** Another SQLite library than the one that comes with Node. */
  readonly driver?: SqliteDriver;
}

export interface SqliteSettings {
  /** null: in memory. */
  readonly file: string | null;
  readonly synchronous: "full" | "normal";
  readonly busyTimeoutMs: number;
  readonly namespace: string;
  readonly driver: SqliteDriver;
}

// The call blocks the event loop while it waits, lease renewals included: longer waits belong to the caller.
const busyTimeoutMsMax = 250;

const optionNames: NamesOf<SqliteOptions> = {
  path: true,
  synchronous: true,
  busyTimeoutMs: true,
  namespace: true,
  driver: true,
};

export function readOptions(given: string | SqliteOptions): SqliteSettings {
  const options = typeof given === "string" ? { path: given } : ((given ?? {}) as SqliteOptions);
  checkNames(options, optionNames, "sqlite()");
  const { path, synchronous = "full", busyTimeoutMs = busyTimeoutMsMax, namespace = "everstep" } = options;
  if (typeof path !== "string" || path === "") {
    throw invalid(`needs a path: a file name or ":memory:", not ${JSON.stringify(path)}`);
  }
  if (synchronous !== "full" && synchronous !== "normal") {
    throw invalid(`knows synchronous "full" and "normal", not ${JSON.stringify(synchronous)}`);
  }
  if (!Number.isInteger(busyTimeoutMs) || busyTimeoutMs < 0 || busyTimeoutMs > busyTimeoutMsMax) {
    throw invalid(
      `takes whole milliseconds from 0 to ${busyTimeoutMsMax} as busyTimeoutMs, not ${busyTimeoutMs}`,
    );
  }
  checkNamespace(namespace, "sqlite");
  // Absolute from the start: the process may change its folder before the file is opened.
  const file = path === ":memory:" ? null : resolve(path.startsWith("file:") ? fileURLToPath(path) : path);
  return { file, synchronous, busyTimeoutMs, namespace, driver: options.driver ?? nodeDriver };
}

function invalid(sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `sqlite() ${sentence}.`);
}
