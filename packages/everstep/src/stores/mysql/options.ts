import {
  invalid,
  present,
  readServerOptions,
  type ServerOptions,
  type ServerSettings,
} from "../sql/server/options.ts";
import type { MysqlClient } from "./driver.ts";

export interface MysqlOptions extends ServerOptions {
  /** mysql://user:password@host:3306/database. What is given beside it goes before what it says. */
  readonly url?: string;
  readonly socketPath?: string;
  readonly password?: string;
  /** Prefix of the table names, by default "everstep". */
  readonly namespace?: string;
  /** How long a statement may wait for a row that another transaction holds, by default 5 seconds. Whole seconds count. */
  readonly lockTimeoutMs?: number;
  /** What mutations receive, made from the transaction's connection; by default the connection itself, guarded. */
  // biome-ignore lint/suspicious/noExplicitAny: a MysqlClient, which query builders want by the driver's own type
  readonly handle?: (client: any) => unknown;
}

export interface MysqlSettings extends ServerSettings {
  readonly connect: ConnectSettings;
  readonly handle: (client: MysqlClient) => unknown;
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

export function readOptions(given: string | MysqlOptions): MysqlSettings {
  const own = { socketPath: true, password: true, handle: true } as const;
  const { options, settings } = readServerOptions<MysqlOptions>(given, "mysql", own);
  const connect = readConnect(options);
  const { handle = (client: MysqlClient) => client } = options;
  return { ...settings, connect, handle, place: placeOf(connect) };
}

function readConnect(options: MysqlOptions): ConnectSettings {
  const { host, port, socketPath, user, password, database } = options;
  const { ssl, ...said }: Said = options.url === undefined ? {} : readUrl(options.url);
  const named = { ...said, ...present({ host, port, socketPath, user, password, database }) };
  if (typeof named.database !== "string" || named.database === "") {
    throw invalid(
      "mysql",
      "needs the name of a database: mysql://user:password@host:3306/database, or `database`",
    );
  }
  return { ...named, database: named.database, ...readSsl(options.ssl ?? ssl) };
}

type Said = Partial<Omit<ConnectSettings, "ssl">> & { readonly ssl?: boolean };

/** Never shows the text itself: it may hold a password. */
function readUrl(text: string): Said {
  const url = typeof text === "string" && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^(mysql|mariadb):$/.test(url.protocol)) {
    throw invalid("mysql", "needs a URL like mysql://user:password@host:3306/database");
  }
  for (const name of url.searchParams.keys()) {
    if (name !== "ssl")
      throw invalid(
        "mysql",
        `does not know the parameter ${JSON.stringify(name)} of a URL: pass it as an option`,
      );
  }
  const ssl = url.searchParams.get("ssl");
  if (ssl !== null && ssl !== "true" && ssl !== "false") {
    throw invalid("mysql", "knows ssl=true and ssl=false in a URL: pass more as the option `ssl`");
  }
  return present({
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
    throw invalid("mysql", 'needs a URL whose parts are percent-encoded: write a "%" as "%25"');
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
