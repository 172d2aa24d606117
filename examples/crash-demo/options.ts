/** What the command line may say. */
import { parseArgs } from "node:util";
import { type StoreName, serverUrl, storeNames, stores } from "./stores.ts";

export interface Options {
  readonly help: boolean;
  readonly store: StoreName;
  readonly keep: boolean;
  /** Steps in which a worker is killed. */
  readonly killAt: readonly string[];
  readonly speed: number;
}

export class UsageError extends Error {}

export const usage = `Usage: npm run demo -- [options]

Runs an order through a workflow, kills the worker process twice, and proves that
the order went on where it was.

  --store <name>     sqlite (default), postgres, mysql or redis
  --keep             keep the order's data, and the effects in ./.everstep
  --kill-at <step>   kill the worker in this step; may be given several times
  --speed <number>   2 is twice as fast (or EVERSTEP_DEMO_SPEED)
  --help             this text

Servers are taken from EVERSTEP_POSTGRES_URL, EVERSTEP_MYSQL_URL and
EVERSTEP_REDIS_URL. Where that is not set, npm run demo starts one for the demo and
throws it away afterwards.

You may also kill workers yourself, with kill -9 in another terminal.
NO_COLOR and FORCE_COLOR are respected. Piped output is plain lines.
`;

export function readOptions(
  args: string[],
  env: NodeJS.ProcessEnv,
  steps: readonly string[],
  killAtDefault: readonly string[],
): Options {
  const { help = false, store, keep, speed, "kill-at": killAt } = parse(args);
  const unknown = killAt?.find((step) => !steps.includes(step));
  if (unknown !== undefined) {
    throw new UsageError(`There is no step "${unknown}". The steps are: ${steps.join(", ")}.`);
  }
  return {
    help,
    store: help ? "sqlite" : readStore(store ?? "sqlite"),
    keep: keep ?? false,
    killAt: killAt ?? killAtDefault,
    speed: readSpeed(speed ?? (env.EVERSTEP_DEMO_SPEED || "1")),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        help: { type: "boolean", short: "h" },
        store: { type: "string" },
        keep: { type: "boolean" },
        "kill-at": { type: "string", multiple: true },
        speed: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readStore(text: string): StoreName {
  const name = storeNames.find((known) => known === text);
  if (name === undefined) {
    throw new UsageError(`There is no store "${text}". The stores are: ${storeNames.join(", ")}.`);
  }
  const { title, variable } = stores[name];
  if (variable !== null && serverUrl(name) === "") {
    throw new UsageError(
      `${variable} is not set, so there is no ${title} for the demo. Set it, or use npm run demo, which starts one.`,
    );
  }
  return name;
}

function readSpeed(text: string): number {
  const speed = Number(text);
  if (speed >= 0.1 && speed <= 20) return speed;
  throw new UsageError(`The speed is a number from 0.1 to 20, not "${text}".`);
}
