/**
 * The connections of one store: a pool for work, and one apart for the renewal of leases. Several statements go out at
 * once and are answered one by one; when one fails, the server refuses the rest of the transaction, and its COMMIT rolls
 * back.
 */
import { untilAborted } from "../../store/until-aborted.ts";
import {
  commit,
  type ServerConnection,
  type ServerConnections,
  ServerDatabase,
} from "../sql/server/database.ts";
import {
  forRenewal,
  renewalConnectionsMax,
  type SqlResult,
  type Statement,
  type Use,
} from "../sql/session.ts";
import {
  type Driver,
  type DriverClient,
  type DriverPool,
  type DriverPoolClient,
  type DriverResult,
  loadDriver,
} from "./driver.ts";
import { errorCode, isConnectionLost, isUniqueViolation, storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { type Render, rendering } from "./statements.ts";

export class PostgresDatabase extends ServerDatabase<Connections> {
  constructor(settings: PostgresSettings) {
    const { place, pooling } = settings;
    super({
      place,
      open: async () => connections(await loadDriver(), settings),
      failure: (error, sent) => storeFailure(error, place, sent),
      isRead: ({ sql }) => sql.startsWith("SELECT"),
      framesWrites: true,
      begin: { sql: "BEGIN ISOLATION LEVEL READ COMMITTED", values: [] },
      setLocally(use) {
        if (!pooling.isPooled) return [];
        const { statementTimeoutMs, lockTimeoutMs } = use === "renewal" ? forRenewal(settings) : settings;
        return [
          { sql: `SET LOCAL statement_timeout = ${statementTimeoutMs}`, values: [] },
          { sql: `SET LOCAL lock_timeout = ${lockTimeoutMs}`, values: [] },
        ];
      },
      isGone: () => false,
      refusedCommit: (error) =>
        error instanceof Error && refusedCommits.has(error) ? { isTaken: isUniqueViolation(error) } : null,
    });
  }

  /** A connection of its own, not connected yet; the caller ends it. */
  single(): Promise<DriverClient> {
    return this.withOpen(async (open) => open.single());
  }
}

interface Connections extends ServerConnections {
  /** One outside of the pools, for the caller alone; not connected yet. */
  single(): DriverClient;
}

export interface Connection extends ServerConnection {
  readonly client: DriverPoolClient;
}

async function connections(driver: Driver, settings: PostgresSettings): Promise<Connections> {
  const Client = clientOf(driver, settings);
  await settings.pooling.findOut(() => new Client(bareConfig(settings)));
  const render = rendering(!settings.pooling.isPooled);
  const open = (own: PostgresSettings, max: number): DriverPool => {
    const pool = new driver.Pool({ ...clientConfig(own), ...poolConfig, Client: clientOf(driver, own), max });
    watch(pool, own);
    return pool;
  };
  const pools: Readonly<Record<Use, DriverPool>> = {
    work: open(settings, settings.max),
    renewal: open(forRenewal(settings), renewalConnectionsMax),
  };
  return {
    take: (use, signal) => takeFrom(pools[use], render, signal),
    single: () => new Client(clientConfig(settings)),
    async close() {
      await Promise.all([pools.work.end(), pools.renewal.end()]);
    },
  };
}

const poolConfig = { idleTimeoutMillis: 30_000, allowExitOnIdle: true };

/**
 * The time limit is for connecting: given to a pool it would also be one for waiting, and calls would fail because others
 * are many. A password that is asked for stands beside the URL, which the driver reads last.
 */
function clientOf(driver: Driver, { connect, connectTimeoutMs }: PostgresSettings): Driver["Client"] {
  return class extends driver.Client {
    constructor(config: object) {
      super({ ...config, connectionTimeoutMillis: connectTimeoutMs });
      if (typeof connect.password === "function") Object.assign(this, { password: connect.password });
    }
  };
}

/** Time limits on the server end what the driver has given up. */
function clientConfig(settings: PostgresSettings): object {
  const { statementTimeoutMs, lockTimeoutMs, pooling } = settings;
  const session = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  };
  return { ...bareConfig(settings), ...(pooling.isPooled ? {} : session) };
}

function bareConfig({ connect, statementTimeoutMs }: PostgresSettings): object {
  return {
    ...connect,
    application_name: "everstep",
    keepAlive: true,
    pipeline: true,
    query_timeout: statementTimeoutMs + 1000,
  };
}

function watch(pool: DriverPool, { pooling }: PostgresSettings): void {
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => void lost.add(client));
    client.on("end", () => void lost.add(client));
    if (!pooling.isPooled) client.query({ text: ownPlans }).catch(() => {});
  });
}

const lost = new WeakSet<object>();

async function takeFrom(
  pool: DriverPool,
  render: Render,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const taking = pool.connect();
  const client = await untilAborted(taking, signal).catch((error) => {
    // It comes too late for this call, and in time for the next.
    if (signal?.aborted) taking.then((late) => late.release()).catch(() => {});
    throw error;
  });
  const isIdle = (): boolean => (client.getTransactionStatus?.() ?? "I") === "I";
  return {
    client,
    isReused: false,
    get isLost() {
      return lost.has(client);
    },
    exchange: (statements) => exchange(client, statements, render),
    async rollback() {
      // COMMIT that came behind a statement that failed has rolled back already.
      if ((client.getTransactionStatus?.() ?? "T") !== "I") await client.query({ text: "ROLLBACK" });
    },
    // One that is still in a transaction is nobody's to use.
    leave: () => client.release(lost.has(client) || !isIdle()),
    destroy() {
      lost.add(client);
      client.connection?.stream?.destroy?.();
    },
  };
}

/** What COMMIT answered, and no statement before it. */
const refusedCommits = new WeakSet<Error>();

/** All at once; the answers come in order. The first failure is the one that counts: the others follow from it. */
async function exchange(
  client: DriverClient,
  statements: readonly Statement[],
  render: Render,
): Promise<readonly SqlResult[]> {
  const answers = allAtOnce(client, () => statements.map((statement) => client.query(render(statement))));
  const settled = await Promise.allSettled(answers);
  const failed = settled.flatMap((answer, at) =>
    answer.status === "rejected" ? [{ reason: answer.reason as unknown, statement: statements[at] }] : [],
  );
  // A connection that broke fails them all at once, and says the least.
  const first = failed.find(({ reason }) => !isConnectionLost(reason)) ?? failed[0];
  if (first !== undefined) {
    // Nothing can follow, or the primary has become a standby: the next connection may well reach another server.
    if (isConnectionLost(first.reason) || errorCode(first.reason) === "25006") lost.add(client);
    if (first.statement === commit && first.reason instanceof Error) refusedCommits.add(first.reason);
    throw first.reason;
  }
  return settled.map((answer) => {
    const { rows, rowCount } = (answer as PromiseFulfilledResult<DriverResult>).value;
    return { rows, changes: rowCount ?? 0 };
  });
}

/** In one piece, where it would fit into one. */
function allAtOnce<Result>(client: DriverClient, send: () => Result): Result {
  const stream = client.connection?.stream;
  stream?.cork?.();
  try {
    return send();
  } finally {
    stream?.uncork?.();
  }
}

/**
 * How statements are planned on the store's connections. All of them look their rows up by key, so a plan is made once
 * and kept, as long as no other plan can seem cheaper: a table that is empty when a plan is made, and read from end to
 * end by it, may have a million rows a minute later.
 */
const planSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_mergejoin: "off",
  enable_hashjoin: "off",
  // A plan that cannot do without what is ruled out looks expensive enough to be compiled.
  jit: "off",
};

/** For a whole session. */
export const ownPlans: string = Object.entries(planSettings)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join("; ");

/** For the rest of a transaction: the author's statements are planned as anywhere else. */
export const authorsPlans: string = Object.keys(planSettings)
  .map((name) => `SET LOCAL ${name} TO DEFAULT`)
  .join("; ");

/** And the store's own behind them again. */
export const ownPlansAgain: string = Object.entries(planSettings)
  .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
  .join("; ");

/**
 * Whether a pooler (PgBouncer) stands before the server and hands out its connections per transaction: then nothing may be
 * prepared and nothing set for a session. Users may say so. Otherwise it is found out: a pooler tells its clients another
 * process than the one that answers them.
 */
export class Pooling {
  #isPooled: boolean | undefined;

  constructor(given: boolean | undefined) {
    this.#isPooled = given;
  }

  /** Known once somebody has said so or found out. */
  get isPooled(): boolean {
    return this.#isPooled ?? false;
  }

  /** `create` makes a client that asks for no settings: a pooler refuses those it does not know. */
  async findOut(create: () => DriverClient): Promise<void> {
    if (this.#isPooled !== undefined) return;
    const client = create();
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query({ text: "SELECT pg_backend_pid() AS pid" });
      this.#isPooled = client.processID !== undefined && rows[0]?.pid !== client.processID;
    } finally {
      client.end().catch(() => {});
    }
  }
}
