import { parseArgs } from "node:util";
import { type StoreName, storeNames } from "../grounds/ground.ts";
import { UsageError } from "../options.ts";

export interface LoadOptions {
  readonly store: StoreName;
  readonly clients: number;
  readonly seconds: number;
  /** The folder the SQLite file lives in; null for one beside the sources. */
  readonly dir: string | null;
  readonly help: boolean;
}

export const usage = `usage: node scripts/up.mjs run bench/http-load.ts [options]

  --clients <n>    clients that ask at the same time, each on a connection of its own (default 500)
  --seconds <n>    how long they do (default 30)
  --store <name>   sqlite (default), postgres, mysql or redis
  --dir <folder>   where the SQLite file lives (default: .everstep beside the sources)
  --help           print this

Servers of stores are taken from EVERSTEP_POSTGRES_URL, EVERSTEP_MYSQL_URL and EVERSTEP_REDIS_URL.
`;

export function readLoadOptions(args: readonly string[]): LoadOptions {
  const values = parse(args);
  const store = storeNames.find((known) => known === (values.store ?? "sqlite"));
  if (store === undefined) {
    throw new UsageError(`There is no store "${values.store}"; there are ${storeNames.join(", ")}.`);
  }
  return {
    store,
    clients: readCount("--clients", values.clients ?? "500", 10_000),
    seconds: readCount("--seconds", values.seconds ?? "30", 3600),
    dir: values.dir ?? null,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        store: { type: "string" },
        clients: { type: "string" },
        seconds: { type: "string" },
        dir: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readCount(option: string, text: string, most: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= most) return count;
  throw new UsageError(`${option} is "${text}"; it must be a whole number from 1 to ${most}.`);
}
