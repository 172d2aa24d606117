/** What `npm run simulate` can be told. */
import { parseArgs } from "node:util";
import {
  type Fate,
  fates,
  type Mishap,
  mishaps,
} from "../../packages/everstep/src/testing/simulate/weather.ts";
import type { Mode } from "./batch.ts";
import { type StoreName, storeNames } from "./stores.ts";

export const help = `Explores random programs under random faults, and checks every promise on the way.

  npm run simulate                              10,000 seeds, safety and liveness in turn
  npm run simulate -- --seeds 100000            more of them
  npm run simulate -- --from 5000 --seeds 100   these
  npm run simulate -- --mode liveness           only seeds that are healed at the end
  npm run simulate -- --store sqlite            on SQLite in the file system instead of memory
  npm run simulate -- --store sql-quick         on the code that server stores share, with its fast paths
  npm run simulate -- --replay 1234 --mode safety
                                                one seed, with everything that happened in it
  npm run simulate -- --replay 1234 --mode safety --shrink
                                                the same, made as small as possible
  npm run simulate -- --corpus broken-fence.json
                                                a kept case, with everything that happened in it

  --seeds <n>    how many                          (10000)
  --from <n>     the first of them                 (1)
  --jobs <n>     processes that share the work     (one for each core)
  --mode <mode>  safety, liveness or both          (both)
  --store <name> memory, sqlite, sql or sql-quick  (memory)
  --faults <names>  only these, with commas between  (all)
  --keep <name>  with --shrink: keep the small case in tests/simulation/corpus under this name
`;

export interface Options {
  readonly seeds: number;
  readonly from: number;
  readonly jobs: number | null;
  readonly modes: readonly Mode[];
  readonly store: StoreName;
  readonly faults: readonly (Fate | Mishap)[] | null;
  readonly replay: number | null;
  readonly shrink: boolean;
  readonly corpus: string | null;
  readonly keep: string | null;
  readonly worker: boolean;
}

/** Null when help was asked for. Throws where an option makes no sense. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string" },
      from: { type: "string" },
      jobs: { type: "string" },
      mode: { type: "string" },
      store: { type: "string" },
      faults: { type: "string" },
      replay: { type: "string" },
      shrink: { type: "boolean" },
      corpus: { type: "string" },
      keep: { type: "string" },
      worker: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return null;
  const { mode = "both", store = "memory" } = values;
  if (mode !== "both" && mode !== "safety" && mode !== "liveness")
    throw new Error(`--mode is "${mode}"; it must be safety, liveness or both.`);
  if (!isStore(store)) throw new Error(`--store is "${store}"; it must be one of ${storeNames.join(", ")}.`);
  return {
    seeds: whole("seeds", values.seeds, 10_000),
    from: whole("from", values.from, 1),
    jobs: values.jobs === undefined ? null : whole("jobs", values.jobs, 1),
    modes: mode === "both" ? ["safety", "liveness"] : [mode],
    store,
    faults: values.faults === undefined ? null : faultsOf(values.faults),
    replay: values.replay === undefined ? null : whole("replay", values.replay, 1),
    shrink: values.shrink === true,
    corpus: values.corpus ?? null,
    keep: values.keep ?? null,
    worker: values.worker === true,
  };
}

function whole(name: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is "${given}"; it must be a whole number.`);
}

function isStore(name: string): name is StoreName {
  return (storeNames as readonly string[]).includes(name);
}

function faultsOf(list: string): readonly (Fate | Mishap)[] {
  const known: readonly (Fate | Mishap)[] = [...fates, ...mishaps];
  return list.split(",").map((given) => {
    const found = known.find((kind) => kind === given.trim());
    if (found === undefined) throw new Error(`--faults has "${given}"; there are ${known.join(", ")}.`);
    return found;
  });
}
