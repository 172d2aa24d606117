/** The connections of one store: a pool for work, and one connection apart for the renewal of leases. */
import type { Use } from "../sql/session.ts";
import type { Driver, DriverClient, DriverPool, DriverPoolClient } from "./driver.ts";
import type { PostgresSettings } from "./options.ts";

export interface Connections {
  take(use: Use): Promise<Connection>;
  /** One outside of the pools, for the caller alone; not connected yet. */
  single(): DriverClient;
  close(): Promise<void>;
}

export interface Connection {
  readonly client: DriverPoolClient;
  /** It ended or failed in a way that nothing can follow. */
  readonly isLost: boolean;
  giveBack(): void;
  destroy(): void;
}

export function connections(driver: Driver, settings: PostgresSettings): Connections {
  const pools = { work: openPool(driver, settings, settings.max), renewal: openPool(driver, settings, 1) };
  return {
    take: (use) => takeFrom(pools[use]),
    single: () => new driver.Client(clientConfig(settings)),
    async close() {
      await Promise.all([pools.work.end(), pools.renewal.end()]);
    },
  };
}

async function takeFrom(pool: DriverPool): Promise<Connection> {
  const client = await pool.connect();
  return {
    client,
    get isLost() {
      return lost.has(client);
    },
    // One that is still in a transaction is nobody's to use.
    giveBack: () => client.release(lost.has(client) || (client.getTransactionStatus?.() ?? "I") !== "I"),
    destroy: () => client.release(true),
  };
}

const lost = new WeakSet<DriverPoolClient>();

function openPool(driver: Driver, settings: PostgresSettings, max: number): DriverPool {
  const config = clientConfig(settings);
  // The time limit is for connecting. One for waiting would make calls fail because others are many.
  class LimitedClient extends driver.Client {
    constructor(given: object) {
      super({ ...given, connectionTimeoutMillis: settings.connectTimeoutMs });
    }
  }
  const pool = new driver.Pool({
    ...config,
    Client: LimitedClient,
    max,
    idleTimeoutMillis: 30_000,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => void lost.add(client));
    client.on("end", () => void lost.add(client));
  });
  return pool;
}

/**
 * What is true when a statement is planned decides, not what was true when it was first planned: an empty table grows.
 * Time limits on the server end what the driver has given up.
 */
function clientConfig(settings: PostgresSettings): object {
  const { connect, statementTimeoutMs, lockTimeoutMs, connectTimeoutMs, pooled } = settings;
  const session = {
    options: "-c plan_cache_mode=force_custom_plan",
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  };
  return {
    ...connect,
    application_name: "everstep",
    keepAlive: true,
    pipeline: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs + 1000,
    ...(pooled ? {} : session),
  };
}
