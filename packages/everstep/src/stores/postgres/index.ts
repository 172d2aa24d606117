/** The store contract over PostgreSQL. Nothing is connected before the first call. */
import { has, type StoreCapabilities } from "../../store/capabilities.ts";
import type {
  MigrateOptions,
  MigrationReport,
  NudgeListener,
  Ownership,
  StoreWarning,
} from "../../store/store.ts";
import { ownerFiles } from "../machine/owner-files.ts";
import { integer, text } from "../sql/rows/row.ts";
import { ServerStore } from "../sql/server/server-store.ts";
import type { Database, Session } from "../sql/session.ts";
import type { Written } from "../sql/write/write.ts";
import { postgresDialect } from "./dialect.ts";
import { type Nudges, nudges } from "./nudges.ts";
import { type PostgresOptions, type PostgresSettings, readOptions } from "./options.ts";
import { migrateSchema } from "./schema.ts";
import { PostgresDatabase } from "./session.ts";
import { callersSession, mutations, SameDatabase } from "./transactions.ts";

export type { KyselyTransaction } from "../sql/server/query-builders.ts";
export type { PostgresClient } from "./driver.ts";
export type { PostgresOptions } from "./options.ts";
export type { ClientPool, LentClient } from "./transactions.ts";
export { asPool, drizzleTransaction, kyselyTransaction } from "./transactions.ts";

/** Keeps workflows in a schema of a PostgreSQL database. Nothing is connected before the first call. */
export function postgres(url: string | PostgresOptions): PostgresStore {
  return new PostgresStore(readOptions(url));
}

export class PostgresStore extends ServerStore {
  readonly name = "postgres";
  readonly ownership: Ownership = ownerFiles({ listRunners: (limit) => this.listRunners(limit) });
  readonly #database: PostgresDatabase;
  readonly #settings: PostgresSettings;
  readonly #nudges: Nudges;
  /** Left out where the callers' clocks rule. */
  readonly serverTime?: () => Promise<number>;

  constructor(settings: PostgresSettings) {
    const database = new PostgresDatabase(settings);
    const same = new SameDatabase(database);
    super({
      capabilities,
      database,
      dialect: postgresDialect(settings.namespace),
      runMutations: mutations(settings),
      sessionOf: (tx) => callersSession(tx, settings, same),
    });
    this.#database = database;
    this.#settings = settings;
    // Numbers of runs are handed out once: one of them can stand for this process.
    this.#nudges = nudges(database, settings, async () => (await this.runIds.take(1))[0] as number);
    if (settings.clock === "store") this.serverTime = () => readServerTime(database);
  }

  migrate(options: MigrateOptions = {}): Promise<MigrationReport> {
    return migrateSchema(this.#database, this.#settings, options);
  }

  subscribe(listener: NudgeListener): Promise<() => void> {
    return this.#nudges.subscribe(listener);
  }

  probeNudges(signal: AbortSignal): Promise<void> {
    return this.#nudges.probe(signal);
  }

  warnings(): Promise<readonly StoreWarning[]> {
    return readWarnings(this.#database);
  }

  protected override async tellOthers({ news }: Written, within?: Session): Promise<void> {
    if (within === undefined) this.#nudges.tell(news);
    else await this.#nudges.tellWithin(within, news);
  }

  override async close(): Promise<void> {
    await this.#nudges.close();
    await super.close();
  }
}

const capabilities: StoreCapabilities = {
  durable: has,
  shared: has,
  mutations: has,
  transactions: has,
  nudges: has,
  ownership: has,
};

async function readServerTime(database: Database): Promise<number> {
  const sql = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now";
  const [read] = await database.run([{ sql, values: [] }], "renewal");
  return integer(read?.rows[0] ?? {}, "now");
}

/** Settings under which the server may lose what it has acknowledged. */
export async function readWarnings(database: Database): Promise<readonly StoreWarning[]> {
  const names = Object.keys(unsafe).map((name) => `'${name}'`);
  const sql = `SELECT s.name, s.setting FROM pg_catalog.pg_settings s WHERE s.name IN (${names.join(", ")})`;
  const [read] = await database.run([{ sql, values: [] }]);
  const off = read?.rows.filter((row) => text(row, "setting") === "off") ?? [];
  return off.map((row) => unsafe[text(row, "name")] as StoreWarning);
}

const unsafe: Readonly<Record<string, StoreWarning>> = {
  fsync: {
    code: "FSYNC_OFF",
    message:
      "PostgreSQL runs with fsync = off: a crash of its host can damage the whole database. Set fsync = on.",
  },
  full_page_writes: {
    code: "FULL_PAGE_WRITES_OFF",
    message:
      "PostgreSQL runs with full_page_writes = off: a crash of its host can damage pages that were half written. " +
      "Set full_page_writes = on, unless its file system writes pages whole.",
  },
  synchronous_commit: {
    code: "SYNCHRONOUS_COMMIT_OFF",
    message:
      "PostgreSQL runs with synchronous_commit = off: a crash can take the last acknowledged steps with it, and they " +
      "run again. Set synchronous_commit = on for this database or user.",
  },
};
