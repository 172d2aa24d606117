/** Where is measured: on SQLite files, or on one server. */
import type { Store } from "everstep/store";
import type { RawStore } from "../raw/raw-store.ts";

export const storeNames = ["sqlite", "sqlite-normal", "postgres", "mysql", "redis"] as const;

export type StoreName = (typeof storeNames)[number];

export interface Ground {
  readonly name: StoreName;
  readonly title: string;
  /** Version, and what makes it durable. */
  readonly about: string;
  /** What the server counts about itself; none without a server. */
  readonly meter: Meter | null;
  /** Whether several connections may write at the same time. */
  readonly hasConnections: boolean;
  /** Data of its own, which nothing has used yet. */
  freshPlace(): Place;
  /** Room for another library on the same disk or server; null where none is compared. */
  readonly freshRoom: (() => Promise<Room>) | null;
  /** A hint from one connection to another by the server's own means, so many times; milliseconds of each. */
  readonly hint: ((times: number) => Promise<readonly number[]>) | null;
  /** Removes every place that is still there. */
  close(): Promise<void>;
}

/** Where another library keeps its data. */
export interface Room {
  /** A file, or the address of a server and a database that nobody else uses. */
  readonly url: string;
  /** What its keys begin with, on a server without databases. */
  readonly prefix: string;
  remove(): Promise<void>;
}

/** Data of its own: a file, or a namespace. */
export interface Place {
  /** What another process needs to open the same; see `openStore`. */
  readonly key: string;
  /** The store as users find it. */
  open(): Store;
  openRaw(connections?: number): Promise<RawStore>;
  /** The rows of the oldest run; null where the raw limit is not made of the store's own rows. */
  readonly readRows: ((table: RunTable) => Promise<readonly Row[]>) | null;
  /** What a server does about much new data by itself after a while: statistics, clean-up. */
  settle(): Promise<void>;
  remove(): Promise<void>;
}

/** Tables that hold rows of a run. */
export const runTables = ["instance", "run", "ending", "step", "event", "log"] as const;

export type RunTable = (typeof runTables)[number];

export function keyOf(table: RunTable): "id" | "run" {
  return table === "instance" || table === "run" ? "id" : "run";
}

export type Row = Readonly<Record<string, unknown>>;

/** Counters of a whole server: right only as long as nobody else uses it. */
export interface Meter {
  /** What is counted, in the order of the report. */
  readonly counts: readonly MeterCount[];
  /** Everything so far. Connections that are open may not have told yet what they did. */
  read(): Promise<Readonly<Record<string, number>>>;
}

export interface MeterCount {
  readonly name: string;
  /** As the report calls it. */
  readonly what: string;
}
