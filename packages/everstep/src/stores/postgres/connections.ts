/** The connections of one store: a pool for work, and one connection apart for the renewal of leases. */
import type { Use } from "../sql/session.ts";
import type { Driver, DriverClient, DriverPool, DriverPoolClient } from "./driver.ts";
import type { PostgresSettings } from "./options.ts";
import { ownPlans } from "./plan-settings.ts";

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
}

export function connections(driver: Driver, settings: PostgresSettings): Connections {
  const Client = clientOf(driver, settings);
  const config = clientConfig(settings);
  const open = (max: number): DriverPool => {
    const pool = new driver.Pool({ ...config, ...poolConfig, Client, max });
    watch(pool, settings);
    return pool;
  };
  const pools = { work: open(settings.max), renewal: open(1) };
  return {
    take: (use) => takeFrom(pools[use]),
    single: () => new Client(config),
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

async function takeFrom(pool: DriverPool): Promise<Connection> {
  const client = await pool.connect();
  return {
    client,
    get isLost() {
      return lost.has(client);
    },
    // One that is still in a transaction is nobody's to use.
    giveBack: () => client.release(lost.has(client) || (client.getTransactionStatus?.() ?? "I") !== "I"),
  };
}

const lost = new WeakSet<object>();

/** Whatever it was asked to do, nobody will hear of it. */
export function isLost(client: object): boolean {
  return lost.has(client);
}

/** It is not used again: the next connection may well reach another server. */
export function forsake(client: object): void {
  lost.add(client);
}

function watch(pool: DriverPool, { pooled }: PostgresSettings): void {
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => void lost.add(client));
    client.on("end", () => void lost.add(client));
    if (!pooled) client.query({ text: ownPlans }).catch(() => {});
  });
}

/** Time limits on the server end what the driver has given up. */
function clientConfig(settings: PostgresSettings): object {
  const { connect, statementTimeoutMs, lockTimeoutMs, pooled } = settings;
  const session = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  };
  return {
    ...connect,
    application_name: "everstep",
    keepAlive: true,
    pipeline: true,
    query_timeout: statementTimeoutMs + 1000,
    ...(pooled ? {} : session),
  };
}
