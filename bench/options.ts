import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { alternativeNames } from "./compare/catalogue.ts";
import { type StoreName, storeNames } from "./grounds/ground.ts";
import { fullSizes, quickSizes, type Sizes } from "./workload.ts";

export interface Options {
  readonly store: StoreName;
  readonly quick: boolean;
  readonly repeat: number;
  readonly sizes: Sizes;
  /** Names of workloads, in the order in which they run. */
  readonly only: readonly string[];
  /** Where the result goes as JSON; null for nowhere. */
  readonly json: string | null;
  readonly markdown: boolean;
  /** Where throughput and latency are drawn as SVG; null for nowhere. */
  readonly plot: string | null;
  /** The folder that gets a report of the store in every form; null for none. */
  readonly results: string | null;
  /** What else is measured beside everstep: names of the catalogue, or paths of adapters. */
  readonly compare: readonly string[];
  /** Every store in turn. */
  readonly all: boolean;
  /** The folder the SQLite files live in; null for one beside the sources. */
  readonly dir: string | null;
  readonly help: boolean;
}

export class UsageError extends Error {}

export const usage = `usage: npm run bench -- [options]

  --store <name>      sqlite (default), sqlite-normal, postgres, mysql or redis
  --all               every store, one after the other; with --results also the summary in bench/README.md
  --quick             small sizes and one round: does it work at all (a few seconds)
  --repeat <n>        rounds per workload, raw and engine in turn (default 3, with --quick 1)
  --only <names>      some workloads, by name and separated by commas
  --runners <counts>  how many processes share the work (default 1,2,4)
  --parked <counts>   how many instances are parked in the store (default 100000)
  --compare <names>   also other libraries, installed into .everstep when asked for: all, or some of
                      ${alternativeNames.join(", ")}; or the path of an adapter
  --dir <folder>      where SQLite files live (default: .everstep beside the sources)
  --json <file>       also write everything measured to this file
  --markdown          print the tables as Markdown
  --plot <file.svg>   also draw throughput and latency
  --results <folder>  also write <store>.json, <store>.md and <store>.svg into this folder
  --help              print this

Servers are taken from EVERSTEP_POSTGRES_URL, EVERSTEP_MYSQL_URL and EVERSTEP_REDIS_URL. Where that is not set,
npm run bench starts one that makes every commit durable, and removes it afterwards.
`;

export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const values = parse(args);
  if (values.all && (values.store ?? values.json ?? values.plot) !== undefined)
    throw new UsageError(
      "--all makes a report for each store: use --results instead of --store, --json and --plot.",
    );
  if (values.only?.split(",").includes("compare") && values.compare === undefined)
    throw new UsageError("--only compare needs --compare with the names of the libraries.");
  const quick = values.quick ?? false;
  return {
    store: readStore(values.store ?? "sqlite"),
    quick,
    repeat: readRepeat(values.repeat ?? (quick ? "1" : "3")),
    sizes: {
      ...(quick ? quickSizes : fullSizes),
      ...(values.runners !== undefined && { runners: readCounts("--runners", values.runners, 64) }),
      ...(values.parked !== undefined && { parked: readCounts("--parked", values.parked, 10_000_000) }),
    },
    only: values.only === undefined ? known : readNames(values.only, known),
    json: values.json ?? null,
    markdown: values.markdown ?? false,
    plot: values.plot ?? null,
    results: values.results ?? null,
    compare: values.compare === undefined ? [] : readAlternatives(values.compare),
    all: values.all ?? false,
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
        quick: { type: "boolean" },
        repeat: { type: "string" },
        only: { type: "string" },
        runners: { type: "string" },
        parked: { type: "string" },
        dir: { type: "string" },
        json: { type: "string" },
        markdown: { type: "boolean" },
        plot: { type: "string" },
        results: { type: "string" },
        compare: { type: "string" },
        all: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readStore(text: string): StoreName {
  const name = storeNames.find((known) => known === text);
  if (name !== undefined) return name;
  throw new UsageError(`There is no store "${text}"; there are ${storeNames.join(", ")}.`);
}

function readRepeat(text: string): number {
  const repeat = Number(text);
  if (Number.isInteger(repeat) && repeat >= 1 && repeat <= 100) return repeat;
  throw new UsageError(`--repeat is "${text}"; it must be a whole number from 1 to 100.`);
}

/** Growing, because the next is made of the one before. */
function readCounts(option: string, text: string, most: number): readonly number[] {
  const counts = text.split(",").map((part) => Number(part.trim() || Number.NaN));
  if (counts.every((count) => Number.isInteger(count) && count >= 1 && count <= most))
    return [...new Set(counts)].sort((a, b) => a - b);
  throw new UsageError(`${option} is "${text}"; it must be whole numbers from 1 to ${most}, with commas.`);
}

function readAlternatives(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const isKnown = (name: string): boolean => alternativeNames.some((known) => known === name);
  const stranger = names.find((name) => name !== "all" && !isKnown(name) && !existsSync(name));
  if (stranger === undefined)
    return [...new Set(names.flatMap((name) => (name === "all" ? alternativeNames : name)))];
  throw new UsageError(
    `There is no alternative "${stranger}"; there are ${alternativeNames.join(", ")}, or the path of an adapter.`,
  );
}

function readNames(text: string, known: readonly string[]): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const stranger = names.find((name) => !known.includes(name));
  if (stranger === undefined) return known.filter((name) => names.includes(name));
  throw new UsageError(`There is no workload "${stranger}"; there are ${known.join(", ")}.`);
}
