/** How the shared statements of the server databases reach one, whatever its driver. */
import type { SqlRow } from "./rows/row.ts";

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /**
   * Asked for again and again, and written so that there is one good way to find its rows, whatever the tables hold: a
   * server may keep the plan it made for the first.
   */
  readonly isPlannedOnce?: boolean;
  /** What it selects, in order, where a library that hands over lists faster than objects had better do so. */
  readonly columns?: readonly string[] | undefined;
  /** There is one such row at most. */
  readonly isOne?: boolean;
}

export interface SqlResult {
  readonly rows: readonly SqlRow[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

export interface Session {
  /** In order and in one round trip; the first statement that fails fails the call, and those behind it are not run. */
  run(statements: readonly Statement[]): Promise<readonly SqlResult[]>;
}

/** BEGIN goes out with the first statements and COMMIT with the last, at no round trip of their own. */
export interface Transaction extends Session {
  /**
   * The last statements, and COMMIT. A failure that leaves open whether it was committed is "ambiguous"; what the server
   * refuses only at COMMIT, for good, is a CommitRefused.
   */
  commit(statements: readonly Statement[]): Promise<readonly SqlResult[]>;
  /** What the driver calls a connection, for the author's own statements in this transaction. */
  readonly client: unknown;
}

/**
 * `work` shares the pool. `renewal` has a connection of its own, so that work that fills the pool cannot cost anybody
 * its lease.
 */
export type Use = "work" | "renewal";

/**
 * One is enough. The others are for the time in which one hangs: it has fallen silent while leases are given back, or
 * cannot be made, and the next renewal must not wait for it.
 */
export const renewalConnectionsMax = 3;

/**
 * The settings of these connections. Leases do not wait as long as work can: neither for a connection, nor for a row that
 * somebody else holds, without which a renewal goes on then.
 */
export function forRenewal<Settings extends { connectTimeoutMs: number; lockTimeoutMs: number }>(
  settings: Settings,
): Settings {
  return {
    ...settings,
    connectTimeoutMs: Math.min(settings.connectTimeoutMs, 5000),
    lockTimeoutMs: Math.min(settings.lockTimeoutMs, 1000),
  };
}

export interface Database {
  /** Outside of transactions: each statement on its own, in one round trip. */
  run(statements: readonly Statement[], use?: Use): Promise<readonly SqlResult[]>;
  /**
   * READ COMMITTED. Commits when `work` is done, if it did not do so itself; rolls back when it throws. Everything
   * thrown is a StoreError, except what the author's code threw. Once `signal` is aborted nobody waits any more: the
   * connection is thrown away, and the server rolls back unless COMMIT has reached it.
   */
  transact<Result>(
    work: (tx: Transaction) => Promise<Result>,
    use?: Use,
    signal?: AbortSignal,
  ): Promise<Result>;
  close(): Promise<void>;
}
