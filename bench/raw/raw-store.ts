import type { Rows } from "./rows.ts";

/** A store without the engine: its tables and indexes, its settings, and nothing else. */
export interface RawStore {
  /** Sets aside so many run ids and gives the first. */
  reserve(count: number): number;
  /** One transaction, or one script; connections are counted from 0. Resolves when it is durable. */
  transact(write: (rows: Rows) => void, connection?: number): Promise<void>;
  close(): Promise<void>;
}
