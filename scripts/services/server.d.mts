export type ServerKind = "postgres" | "mysql" | "redis";

export interface ServerOptions {
  /** The data is on a disk and every commit waits for it. Otherwise it is in memory where possible, and fast. */
  readonly durable?: boolean;
  /** A free one is chosen if it is not given. */
  readonly port?: number;
  /** Further settings of the server, by the names it has for them; they win over our own. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** Makes the data in its folder in place of the server's own way: a copy of another server's, for instance. */
  readonly createData?: (server: Pick<Server, "folder" | "binaries" | "run">) => Promise<void>;
}

export interface Server {
  readonly kind: ServerKind;
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Of the process that serves, or was the last to serve. */
  readonly pid: number | undefined;
  readonly argv: readonly string[];
  readonly binaries: Readonly<Record<string, string>> & { readonly server: string };
  readonly account: { readonly user: string; readonly uid: number; readonly gid: number };
  /** What the server has printed. */
  readonly log: string;

  /** Runs a program to its end under the server's account, and resolves to what it printed. */
  run(program: string, argv: readonly string[]): Promise<string>;

  /**
   * Sends a signal, SIGKILL if not told otherwise, and resolves when the server is gone with all its processes; one that
   * has not ended after 30 seconds is killed. PostgreSQL: SIGTERM waits for its clients, SIGINT does not, SIGQUIT leaves
   * the data for recovery. SIGSTOP freezes the server and SIGCONT lets it go on; both resolve at once.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts again on the same port and data, after a clean end if the server still runs; with other settings if given. */
  restart(settings?: ServerOptions["settings"]): Promise<void>;
  /** Ends the server and removes its data. If nobody calls it, that happens when this process ends, however it does. */
  stop(): Promise<void>;
}

/** Creates the data and starts a private server on 127.0.0.1; resolves when it answers. */
export function startServer(kind: ServerKind, options?: ServerOptions): Promise<Server>;

/**
 * Starts PgBouncer, which hands out connections per transaction, before the PostgreSQL behind `target`. Its `url` leads to
 * the same database. `settings` are those of its configuration file.
 */
export function startPooler(
  target: string,
  settings?: Readonly<Record<string, string | number>>,
): Promise<Omit<Server, "kind">>;

/** Why a server of this kind cannot be started here; undefined if it can. */
export function whyNot(kind: ServerKind | "pgbouncer"): string | undefined;

/** Where the programs of such a server are; undefined where it is not installed. */
export function programsOf(kind: ServerKind): Server["binaries"] | undefined;

/** A port of 127.0.0.1 that nobody listens on just now. */
export function freePort(): Promise<number>;

/** Whether a process runs; one that has ended but was not collected by its parent does not. */
export function isAlive(pid: number): boolean;
