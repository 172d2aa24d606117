import type { Store, StoreCapabilities } from "../../store/index.ts";

/** One promise of the contract: its name says what a user may rely on, `run` throws when it does not hold. */
export interface Case {
  readonly name: string;
  /** What the store must offer for the case to make sense; without it the case is skipped, with the reason. */
  readonly needs?: Need;
  run(context: CaseContext): Promise<void>;
}

export interface CaseGroup {
  readonly title: string;
  readonly cases: readonly Case[];
}

/**
 * A capability, beats of runners (`beat` and what reads them), a second handle on the same data (`reopen`), or mutations
 * that must not return a promise.
 */
export type Need = keyof StoreCapabilities | "beats" | "reopen" | "synchronous mutations";

/** What a case works with. Every store it opens is closed for it. */
export interface CaseContext {
  /** A store of its own: empty and migrated. */
  open(): Promise<Store>;
  /** The same, before its first migration. */
  openBare(): Promise<Store>;
  /** Another handle on the data of `store`, as another process would have it. */
  reopen(store: Store): Promise<Store>;
  readonly rows: AuthorRows;
  readonly transactions: CallerTransactions;
}

/** How the suite plays a caller with transactions of its own. */
export interface CallerTransactions {
  /** Begins one on the store's database, lets `body` use it, and ends it. */
  run(store: Store, end: "commit" | "rollback", body: (tx: unknown) => Promise<void>): Promise<void>;
}

/** How the suite plays the author of mutations: rows of its own, in the same database, with unique keys. */
export interface AuthorRows {
  /** False where the handle is asynchronous and mutations may return promises. */
  readonly synchronous: boolean;
  /** Makes room for the rows, where the store needs that. */
  prepare?(store: Store): Promise<void> | void;
  /** Called inside a mutation with the store's handle; fails with the store's own unique violation when the key is there. */
  // biome-ignore lint/suspicious/noExplicitAny: the handle's type belongs to the store under test
  insert(db: any, key: string, value: string): unknown;
  read(store: Store, key: string): Promise<string | undefined> | string | undefined;
}

/** What `describeStore` is told about a store. */
export interface StoreUnderTest {
  readonly name: string;
  /** A store on empty data of its own. The suite migrates it and closes it. */
  open(): Promise<Store> | Store;
  /** Another handle on the same data; left out where there can be none. */
  reopen?(store: Store): Promise<Store> | Store;
  /** What the store lacks, with the reason; its own `capabilities` must say the same. */
  readonly lacks?: Readonly<Partial<Record<keyof StoreCapabilities | "beats", string>>>;
  /** Needed unless the store lacks mutations. */
  readonly rows?: AuthorRows;
  /** Needed unless the store lacks transactions. */
  readonly transactions?: CallerTransactions;
}
