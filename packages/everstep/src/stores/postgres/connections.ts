/** The connections of one store: a pool for work, and one connection apart for the renewal of leases. */
import { untilAborted } from "../../store/until-aborted.ts";
import { forRenewal, renewalConnectionsMax, type Use } from "../sql/session.ts";
import type { Driver, DriverClient, DriverPool, DriverPoolClient } from "./driver.ts";
import type { PostgresSettings } from "./options.ts";
import { ownPlans } from "./plan-settings.ts";

export interface Connections {
  take(use: Use, signal?: AbortSignal): Promise<Connection>;
  /** One outside of the pools, for the caller alone; not connected yet. */
  single(): DriverClient;
  close(): Promise<void>;
}

export interface Connection {
  readonly client: DriverPoolClient;
  /** It ended or failed in a way that nothing can follow. */
  readonly isLost: boolean;
  giveBack(): void;
  /** Closes it at once: what is under way on it fails. */
  destroy(): void;
}

export async function connections(driver: Driver, settings: PostgresSettings): Promise<Connections> {
  const Client = clientOf(driver, settings);
  await settings.pooling.findOut(() => new Client(bareConfig(settings)));
  const open = (own: PostgresSettings, max: number): DriverPool => {
    const pool = new driver.Pool({ ...clientConfig(own), ...poolConfig, Client: clientOf(driver, own), max });
    watch(pool, own);
    return pool;
  };
  const pools = {
    work: open(settings, settings.max),
    renewal: open(forRenewal(settings), renewalConnectionsMax),
  };
  return {
    take: (use, signal) => takeFrom(pools[use], signal),
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

async function takeFrom(pool: DriverPool, signal: AbortSignal | undefined): Promise<Connection> {
  const taking = pool.connect();
  const client = await untilAborted(taking, signal).catch((error) => {
    // It comes too late for this call, and in time for the next.
    if (signal?.aborted) taking.then((late) => late.release()).catch(() => {});
    throw error;
  });
  return {
    client,
    get isLost() {
      return lost.has(client);
    },
    // One that is still in a transaction is nobody's to use.
    giveBack: () => client.release(lost.has(client) || (client.getTransactionStatus?.() ?? "I") !== "I"),
    destroy() {
      forsake(client);
      client.connection?.stream?.destroy?.();
    },
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

function watch(pool: DriverPool, { pooling }: PostgresSettings): void {
  // A connection that breaks while nobody uses it is replaced by the next call.
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => void lost.add(client));
    client.on("end", () => void lost.add(client));
    if (!pooling.isPooled) client.query({ text: ownPlans }).catch(() => {});
  });
}

/** Time limits on the server end what the driver has given up. */
function clientConfig(settings: PostgresSettings): object {
  const { statementTimeoutMs, lockTimeoutMs, pooling } = settings;
  const session = {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
  };
  return {
    ...bareConfig(settings),
    ...(pooling.isPooled ? {} : session),
  };
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
