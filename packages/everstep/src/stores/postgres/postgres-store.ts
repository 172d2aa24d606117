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
import { ServerStore } from "../sql/server/server-store.ts";
import type { Session } from "../sql/session.ts";
import type { Written } from "../sql/write/write.ts";
import { callersSession } from "./callers-session.ts";
import { postgresDialect, tableNames } from "./dialect.ts";
import { migrateSchema } from "./migrate.ts";
import { mutations } from "./mutations.ts";
import { type Nudges, nudges } from "./nudges.ts";
import type { PostgresSettings } from "./options.ts";
import { SameDatabase } from "./same-database.ts";
import { readServerTime, readWarnings } from "./server-settings.ts";
import { PostgresDatabase } from "./session.ts";

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
    const { namespace } = this.#settings;
    return migrateSchema(this.#database, tableNames(namespace), this.#settings, options);
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
