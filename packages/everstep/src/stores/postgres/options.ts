import {
  invalid,
  present,
  readServerOptions,
  type ServerOptions,
  type ServerSettings,
} from "../sql/server/options.ts";
import type { PostgresClient } from "./driver.ts";
import { Pooling } from "./session.ts";

export interface PostgresOptions extends ServerOptions {
  /** postgres://user:password@host:5432/database?sslmode=require. What is given beside it goes before what it says. */
  readonly url?: string;
  /** A function is asked at every new connection: for passwords that change. */
  readonly password?: Password;
  /** The schema that holds the tables, by default "everstep". */
  readonly namespace?: string;
  /** Connections for work, by default 10. One more is kept for the renewal of leases, one for nudges. */
  readonly max?: number;
  /**
   * The server is reached through a pooler that hands out its connections per transaction (PgBouncer): no prepared
   * statements, no settings of the session. By default it is found out whether there is a pooler, and one is taken for such
   * a one.
   */
  readonly pooled?: boolean;
  /** What mutations receive, made from the transaction's client; by default the client itself, guarded. */
  readonly handle?: (client: PostgresClient) => unknown;
}

type Password = string | (() => string | Promise<string>);

export interface PostgresSettings extends ServerSettings {
  readonly connect: ConnectSettings;
  readonly pooling: Pooling;
  readonly handle: (client: PostgresClient) => unknown;
}

/** In the driver's own words. */
export interface ConnectSettings {
  readonly connectionString?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: Password;
  readonly database?: string;
  readonly ssl?: boolean | object;
}

export function readOptions(given: string | PostgresOptions): PostgresSettings {
  const own = { password: true, pooled: true, handle: true } as const;
  const { options, settings } = readServerOptions<PostgresOptions>(given, "postgres", own);
  const { pooled, handle = (client: PostgresClient) => client } = options;
  if (settings.namespace.startsWith("pg_"))
    throw invalid("postgres", 'takes no namespace that begins with "pg_": PostgreSQL keeps those');
  if (pooled !== undefined && typeof pooled !== "boolean") {
    throw invalid("postgres", `takes true or false as pooled, not ${JSON.stringify(pooled)}`);
  }
  const connect = readConnect(options);
  return { ...settings, connect, pooling: new Pooling(pooled), handle, place: placeOf(options) };
}

function readConnect({ url, host, port, user, password, database, ssl }: PostgresOptions): ConnectSettings {
  if (url === undefined) return present({ host, port, user, password, database, ssl });
  // The driver lets the URL go before everything else, so the rest is put into it.
  const whole = requireUrl(url);
  if (host !== undefined) whole.hostname = host;
  if (port !== undefined) whole.port = String(port);
  if (user !== undefined) whole.username = encodeURIComponent(user);
  if (typeof password === "string") whole.password = encodeURIComponent(password);
  if (database !== undefined) whole.pathname = `/${encodeURIComponent(database)}`;
  const asked = typeof password === "function" ? password : undefined;
  return { ...present({ ssl, password: asked }), connectionString: whole.href };
}

/** The text itself never gets into a message: there may be a password in it. */
function requireUrl(url: string): URL {
  const isUrl = typeof url === "string" && /^(postgres|postgresql|socket):/.test(url);
  const whole = isUrl ? parsed(url) : undefined;
  if (whole !== undefined) return whole;
  const example = "postgres://user:password@host:5432/database";
  throw invalid("postgres", `needs a URL like ${example}, or host, database and so on`);
}

function placeOf({ url, host, port, database }: PostgresOptions): string {
  const from = url === undefined ? undefined : parsed(url);
  const server = host ?? (from?.hostname || "localhost");
  const at = port ?? (from?.port || 5432);
  const name = database ?? (decoded(from?.pathname.slice(1)) || "the default database");
  return `The database "${name}" on ${server}:${at}`;
}

function parsed(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}
