import { EverstepError } from "../../model/error.ts";
import { checkNames, type NamesOf } from "../../model/known-names.ts";
import { checkNamespace } from "../../store/namespace.ts";
import type { MysqlClient } from "./driver.ts";

export interface MysqlOptions {
  /** mysql://user:password@host:3306/database. What is given beside it goes before what it says. */
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
  /** True: encrypted, with a certificate that is checked. An object goes to the driver as it is. */
  readonly ssl?: boolean | object;
  /** Prefix of the table names, by default "everstep". */
  readonly namespace?: string;
  /** Connections for work, by default 10. One more is kept for the renewal of leases. */
  readonly max?: number;
  /** Whose clock rules: "store" (the default) the server's, "caller" that of each process. */
  readonly clock?: "store" | "caller";
  /** How long a call may wait for its answer, by default 15 seconds. */
  readonly statementTimeoutMs?: number;
  /** How long a statement may wait for a row that another transaction holds, by default 5 seconds. Whole seconds count. */
  readonly lockTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** What mutations receive, made from the transaction's connection; by default the connection itself, guarded. */
  // biome-ignore lint/suspicious/noExplicitAny: a MysqlClient, which query builders want by the driver's own type
  readonly handle?: (client: any) => unknown;
}

export interface MysqlSettings {
  readonly connect: ConnectSettings;
  readonly namespace: string;
  readonly max: number;
  readonly clock: "store" | "caller";
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly handle: (client: MysqlClient) => unknown;
  /** For messages: which database, without who and with which password. */
  readonly place: string;
}

/** In the driver's own words. */
export interface ConnectSettings {
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database: string;
  readonly ssl?: object;
}

const timeoutMsMax = 600_000;

const optionNames: NamesOf<MysqlOptions> = {
  url: true,
  host: true,
  port: true,
  socketPath: true,
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
  handle: true,
};

export function readOptions(given: string | MysqlOptions): MysqlSettings {
  const options = typeof given === "string" ? { url: given } : ((given ?? {}) as MysqlOptions);
  checkNames(options, optionNames, "mysql()");
  const { namespace = "everstep", max = 10, clock = "store" } = options;
  const { statementTimeoutMs = 15_000, lockTimeoutMs = 5_000, connectTimeoutMs = 10_000 } = options;
  checkNamespace(namespace, "mysql");
  if (!Number.isInteger(max) || max < 1 || max > 1000) {
    throw invalid(`takes a whole number from 1 to 1000 as max, not ${JSON.stringify(max)}`);
  }
  if (clock !== "store" && clock !== "caller") {
    throw invalid(`knows clock "store" and "caller", not ${JSON.stringify(clock)}`);
  }
  const limits = { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs };
  for (const [name, ms] of Object.entries(limits)) {
    if (Number.isInteger(ms) && ms >= 100 && ms <= timeoutMsMax) continue;
    throw invalid(
      `takes whole milliseconds from 100 to ${timeoutMsMax} as ${name}, not ${JSON.stringify(ms)}`,
    );
  }
  const connect = readConnect(options);
  const { handle = (client: MysqlClient) => client } = options;
  return { connect, namespace, max, clock, ...limits, handle, place: placeOf(connect) };
}

function readConnect(options: MysqlOptions): ConnectSettings {
  const { host, port, socketPath, user, password, database } = options;
  const { ssl, ...said }: Said = options.url === undefined ? {} : readUrl(options.url);
  const named = { ...said, ...withoutAbsent({ host, port, socketPath, user, password, database }) };
  if (typeof named.database !== "string" || named.database === "") {
    throw invalid("needs the name of a database: mysql://user:password@host:3306/database, or `database`");
  }
  return { ...named, database: named.database, ...readSsl(options.ssl ?? ssl) };
}

type Said = Partial<Omit<ConnectSettings, "ssl">> & { readonly ssl?: boolean };

/** Never shows the text itself: it may hold a password. */
function readUrl(text: string): Said {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^(mysql|mariadb):$/.test(url.protocol)) {
    throw invalid("needs a URL like mysql://user:password@host:3306/database");
  }
  for (const name of url.searchParams.keys()) {
    if (name !== "ssl")
      throw invalid(`does not know the parameter ${JSON.stringify(name)} of a URL: pass it as an option`);
  }
  const ssl = url.searchParams.get("ssl");
  if (ssl !== null && ssl !== "true" && ssl !== "false") {
    throw invalid("knows ssl=true and ssl=false in a URL: pass more as the option `ssl`");
  }
  return withoutAbsent({
    host: decode(url.hostname.replace(/^\[|\]$/g, "")) || undefined,
    port: url.port === "" ? undefined : Number(url.port),
    user: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    database: decode(url.pathname.slice(1)) || undefined,
    ssl: ssl === null ? undefined : ssl === "true",
  });
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('needs a URL whose parts are percent-encoded: write a "%" as "%25"');
  }
}

function readSsl(ssl: boolean | object | undefined): { readonly ssl?: object } {
  if (ssl === undefined || ssl === false) return {};
  // The driver would check the certificate, but not whose it is.
  return { ssl: ssl === true ? { verifyIdentity: true } : ssl };
}

function placeOf({ host = "localhost", port = 3306, socketPath, database }: ConnectSettings): string {
  return `The database "${database}" on ${socketPath ?? `${host}:${port}`}`;
}

type Present<Shape> = { [Name in keyof Shape]?: Exclude<Shape[Name], undefined> };

function withoutAbsent<Shape extends object>(shape: Shape): Present<Shape> {
  return Object.fromEntries(
    Object.entries(shape).filter(([, value]) => value !== undefined),
  ) as Present<Shape>;
}

function invalid(sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `mysql() ${sentence}.`);
}
