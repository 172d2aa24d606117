import { EverstepError } from "../../model/error.ts";
import { checkNames, type NamesOf } from "../../model/known-names.ts";
import { checkNamespace } from "../../store/namespace.ts";
import type { PostgresClient } from "./driver.ts";
import { Pooling } from "./pooling.ts";

export interface PostgresOptions {
  /** postgres://user:password@host:5432/database?sslmode=require. What is given beside it goes before what it says. */
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  /** A function is asked at every new connection: for passwords that change. */
  readonly password?: string | (() => string | Promise<string>);
  readonly database?: string;
  /** True: encrypted, with a certificate that is checked. An object goes to the driver as it is. */
  readonly ssl?: boolean | object;
  /** The schema that holds the tables, by default "everstep". */
  readonly namespace?: string;
  /** Connections for work, by default 10. One more is kept for the renewal of leases, one for nudges. */
  readonly max?: number;
  /** Whose clock rules: "store" (the default) the server's, "caller" that of each process. */
  readonly clock?: "store" | "caller";
  /** How long a call may wait for its answer, by default 15 seconds. */
  readonly statementTimeoutMs?: number;
  /** How long a statement may wait for a row that another transaction holds, by default 5 seconds. */
  readonly lockTimeoutMs?: number;
  /** How long making a connection may take, by default 10 seconds. */
  readonly connectTimeoutMs?: number;
  /**
   * The server is reached through a pooler that hands out its connections per transaction (PgBouncer): no prepared
   * statements, no settings of the session. By default it is found out whether there is a pooler, and one is taken for such
   * a one.
   */
  readonly pooled?: boolean;
  /** What mutations receive, made from the transaction's client; by default the client itself, guarded. */
  readonly handle?: (client: PostgresClient) => unknown;
}

export interface PostgresSettings {
  readonly connect: ConnectSettings;
  readonly namespace: string;
  readonly max: number;
  readonly clock: "store" | "caller";
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly pooling: Pooling;
  readonly handle: (client: PostgresClient) => unknown;
  /** For messages: which database, without who and with which password. */
  readonly place: string;
}

/** In the driver's own words. */
export interface ConnectSettings {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string | (() => string | Promise<string>);
  readonly database?: string;
  readonly ssl?: boolean | object;
}

const timeoutMsMax = 600_000;

const optionNames: NamesOf<PostgresOptions> = {
  url: true,
  host: true,
  port: true,
  user: true,
  password: true,
  database: true,
  ssl: true,
  namespace: true,
  max: true,
  clock: true,
  statementTimeoutMs: true,
  lockTimeoutMs: true,
  connectTimeoutMs: true,
  pooled: true,
  handle: true,
};

export function readOptions(given: string | PostgresOptions): PostgresSettings {
  const options = typeof given === "string" ? { url: given } : ((given ?? {}) as PostgresOptions);
  checkNames(options, optionNames, "postgres()");
  const { namespace = "everstep", max = 10, clock = "store", pooled } = options;
  const { statementTimeoutMs = 15_000, lockTimeoutMs = 5_000, connectTimeoutMs = 10_000 } = options;
  checkNamespace(namespace, "postgres");
  if (namespace.startsWith("pg_"))
    throw invalid('takes no namespace that begins with "pg_": PostgreSQL keeps those');
  if (!Number.isInteger(max) || max < 1 || max > 1000) {
    throw invalid(`takes a whole number from 1 to 1000 as max, not ${JSON.stringify(max)}`);
  }
  if (clock !== "store" && clock !== "caller") {
    throw invalid(`knows clock "store" and "caller", not ${JSON.stringify(clock)}`);
  }
  if (pooled !== undefined && typeof pooled !== "boolean") {
    throw invalid(`takes true or false as pooled, not ${JSON.stringify(pooled)}`);
  }
  for (const [name, ms] of Object.entries({ statementTimeoutMs, lockTimeoutMs, connectTimeoutMs })) {
    if (Number.isInteger(ms) && ms >= 100 && ms <= timeoutMsMax) continue;
    throw invalid(
      `takes whole milliseconds from 100 to ${timeoutMsMax} as ${name}, not ${JSON.stringify(ms)}`,
    );
  }
  const connect = readConnect(options);
  const { handle = (client: PostgresClient) => client } = options;
  const limits = { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs };
  const pooling = new Pooling(pooled);
  return { connect, namespace, max, clock, pooling, ...limits, handle, place: placeOf(options) };
}

function readConnect({ url, host, port, user, password, database, ssl }: PostgresOptions): ConnectSettings {
  const secured = ssl === undefined ? {} : { ssl };
  if (url === undefined) {
    return {
      ...secured,
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
      ...(database === undefined ? {} : { database }),
    };
  }
  // The driver lets the URL go before everything else, so the rest is put into it.
  const whole = requireUrl(url);
  if (host !== undefined) whole.hostname = host;
  if (port !== undefined) whole.port = String(port);
  if (user !== undefined) whole.username = encodeURIComponent(user);
  if (typeof password === "string") whole.password = encodeURIComponent(password);
  if (database !== undefined) whole.pathname = `/${encodeURIComponent(database)}`;
  const asked = typeof password === "function" ? { password } : {};
  return { ...secured, ...asked, connectionString: whole.href };
}

/** The text itself never gets into a message: there may be a password in it. */
function requireUrl(url: string): URL {
  const isUrl = typeof url === "string" && /^(postgres|postgresql|socket):/.test(url);
  const whole = isUrl ? parsed(url) : undefined;
  if (whole !== undefined) return whole;
  throw invalid("needs a URL like postgres://user:password@host:5432/database, or host, database and so on");
}

function placeOf({ url, host, port, database }: PostgresOptions): string {
  const from = url === undefined ? undefined : parsed(url);
  const server = host ?? (from?.hostname || "localhost");
  const at = port ?? (from?.port || 5432);
  const name = database ?? (decoded(from?.pathname.slice(1)) || "the default database");
  return `The database "${name}" on ${server}:${at}`;
}

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

function invalid(sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `postgres() ${sentence}.`);
}
