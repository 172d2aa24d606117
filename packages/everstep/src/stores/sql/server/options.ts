/** The options that every kind of server takes, and what they may be. */
import { EverstepError } from "../../../model/error.ts";
import { checkNames, type NamesOf } from "../../../model/known-names.ts";
import { checkNamespace } from "../../../store/namespace.ts";

export interface ServerOptions {
  /** What is given beside it goes before what it says. */
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly database?: string;
  /** True: encrypted, with a certificate that is checked. An object goes to the driver as it is. */
  readonly ssl?: boolean | object;
  /** Keeps apps in one database apart, by default "everstep". */
  readonly namespace?: string;
  /** Connections for work, by default 10. One more is kept for the renewal of leases. */
  readonly max?: number;
  /** Whose clock rules: "store" (the default) the server's, "caller" that of each process. */
  readonly clock?: "store" | "caller";
  /** How long a call may wait for its answer, by default 15 seconds. */
  readonly statementTimeoutMs?: number;
  /** How long a statement may wait for a row that another transaction holds, by default 5 seconds. */
  readonly lockTimeoutMs?: number;
  /** How long making a connection may take, by default 10 seconds. */
  readonly connectTimeoutMs?: number;
}

export interface ServerSettings {
  readonly namespace: string;
  readonly max: number;
  readonly clock: "store" | "caller";
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** For messages: which database, without who and with which password. */
  readonly place: string;
}

const shared: NamesOf<ServerOptions> = {
  url: true,
  host: true,
  port: true,
  user: true,
  database: true,
  ssl: true,
  namespace: true,
  max: true,
  clock: true,
  statementTimeoutMs: true,
  lockTimeoutMs: true,
  connectTimeoutMs: true,
};

const maxTimeoutMs = 600_000;

/** `own`: the names of options that only this server has. */
export function readServerOptions<Options extends ServerOptions>(
  given: string | Options,
  opener: string,
  own: NamesOf<Omit<Options, keyof ServerOptions>>,
): { readonly options: Options; readonly settings: Omit<ServerSettings, "place"> } {
  const options = (typeof given === "string" ? { url: given } : (given ?? {})) as Options;
  checkNames(options, { ...shared, ...own }, `${opener}()`);
  const { namespace = "everstep", max = 10, clock = "store" } = options;
  const { statementTimeoutMs = 15_000, lockTimeoutMs = 5_000, connectTimeoutMs = 10_000 } = options;
  const limits = { statementTimeoutMs, lockTimeoutMs, connectTimeoutMs };
  checkNamespace(namespace, opener);
  if (!Number.isInteger(max) || max < 1 || max > 1000) {
    throw invalid(opener, `takes a whole number from 1 to 1000 as max, not ${JSON.stringify(max)}`);
  }
  if (clock !== "store" && clock !== "caller") {
    throw invalid(opener, `knows clock "store" and "caller", not ${JSON.stringify(clock)}`);
  }
  for (const [name, ms] of Object.entries(limits)) {
    if (Number.isInteger(ms) && ms >= 100 && ms <= maxTimeoutMs) continue;
    const range = `whole milliseconds from 100 to ${maxTimeoutMs}`;
    throw invalid(opener, `takes ${range} as ${name}, not ${JSON.stringify(ms)}`);
  }
  return { options, settings: { namespace, max, clock, ...limits } };
}

/** Without what was not given. */
export function present<Shape extends object>(
  shape: Shape,
): { [Name in keyof Shape]?: Exclude<Shape[Name], undefined> } {
  const given = Object.entries(shape).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Name in keyof Shape]?: Exclude<Shape[Name], undefined> };
}

export function invalid(opener: string, sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `${opener}() ${sentence}.`);
}
