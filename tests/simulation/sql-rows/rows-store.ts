/** The code that the server stores share (load, plan, save), over tables in memory: what a world runs on as on a server. */
import { has, lacks, type StoreCapabilities } from "../../../packages/everstep/src/store/capabilities.ts";
import type {
  MigrateOptions,
  MigrationReport,
  Ownership,
} from "../../../packages/everstep/src/store/store.ts";
import { runMutations as runRowMutations } from "../../../packages/everstep/src/stores/memory/author-rows.ts";
import { Owners } from "../../../packages/everstep/src/stores/memory/owners.ts";
import { migrations } from "../../../packages/everstep/src/stores/postgres/schema.ts";
import { ServerStore } from "../../../packages/everstep/src/stores/sql/server/server-store.ts";
import { MutationRefused } from "../../../packages/everstep/src/stores/sql/write/refusals.ts";
import type { RunMutations } from "../../../packages/everstep/src/stores/sql/write/write.ts";
import type { SqliteDatabase } from "../../../packages/everstep/src/stores/sqlite/driver.ts";
import type { WorldData, WorldDataOptions } from "../world-data.ts";
import { markTables } from "./mark-tables.ts";
import { type AuthorsPart, RowsDatabase } from "./rows-database.ts";
import { names, type RowsDialectOptions, rowsDialect } from "./rows-dialect.ts";

export interface RowsOptions extends RowsDialectOptions, WorldDataOptions {}

export interface RowsData extends WorldData {
  readonly rows: ReadonlyMap<string, unknown>;
}

/** The database is empty and nobody else's. */
export function openRows(sqlite: SqliteDatabase, options: RowsOptions): RowsData {
  const database = new RowsDatabase(sqlite);
  const owners = options.ownership ? new Owners() : null;
  return {
    openStore: () => new RowsStore(database, options, owners),
    rows: database.authors.rows,
    owners,
    mark: () => markRows(database),
  };
}

function markRows({ sqlite, authors: { rows } }: RowsDatabase): () => void {
  const kept = new Map(rows);
  const goBack = markTables(sqlite);
  return () => {
    goBack();
    rows.clear();
    for (const [key, row] of kept) rows.set(key, row);
  };
}

class RowsStore extends ServerStore {
  readonly name = "rows";
  readonly ownership?: Ownership;
  readonly #database: RowsDatabase;

  constructor(database: RowsDatabase, options: RowsDialectOptions, owners: Owners | null) {
    super({
      capabilities: capabilitiesOf(owners),
      database: database.connect(),
      dialect: rowsDialect(options),
      runMutations,
      sessionOf: () => {
        throw new Error("Nobody has a transaction of their own here.");
      },
    });
    this.#database = database;
    if (owners !== null) this.ownership = owners;
  }

  async migrate({ plan = false }: MigrateOptions = {}): Promise<MigrationReport> {
    const { sqlite } = this.#database;
    const to = migrations.at(-1)?.version ?? 0;
    const isDone = sqlite.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() !== undefined;
    const statements = isDone ? [] : schema();
    if (!plan) for (const sql of statements) sqlite.exec(sql);
    return { from: isDone ? to : 0, to, statements };
  }
}

const runMutations: RunMutations = async (tx, mutations) => {
  const authors = tx.client as AuthorsPart;
  const draft = new Map(authors.rows);
  const refused = runRowMutations(draft, mutations);
  if (refused !== undefined) throw new MutationRefused(refused.conflict, refused.error);
  authors.draft = draft;
};

/** PostgreSQL's tables, in words that SQLite has. */
function schema(): readonly string[] {
  const texts = migrations.flatMap(({ statements }) => statements(names));
  return texts.map((text) =>
    text
      .replaceAll(' COLLATE "C"', "")
      .replace(/\) WITH \([^)]*\)$/, ")")
      .replace(/seq bigint GENERATED ALWAYS AS IDENTITY,/, ""),
  );
}

function capabilitiesOf(owners: Owners | null): StoreCapabilities {
  return {
    durable: lacks("the data lives in the memory of one process"),
    shared: lacks("the data lives in the memory of one process"),
    mutations: has,
    transactions: lacks("nobody else reaches the database"),
    nudges: lacks("there is no other process to tell"),
    ownership: owners === null ? lacks("when the owner dies its data dies with it") : has,
  };
}
