import { parseArgs } from "node:util";

export interface Options {
  readonly quick: boolean;
  readonly repeat: number;
  /** Names of workloads, in the order in which they run. */
  readonly only: readonly string[];
  /** Where the result goes as JSON; null for nowhere. */
  readonly json: string | null;
  readonly markdown: boolean;
  /** The folder the databases live in; null for one beside the sources. */
  readonly dir: string | null;
  readonly help: boolean;
}

export class UsageError extends Error {}

export const usage = `usage: npm run bench -- [options]

  --quick           small sizes and one round: does it work at all (a few seconds)
  --repeat <n>      rounds per workload, raw and engine in turn (default 3, with --quick 1)
  --only <names>    some workloads, by name and separated by commas
  --dir <folder>    where the databases live (default: .everstep beside the sources)
  --json <file>     also write everything measured to this file
  --markdown        print the table as Markdown, for bench/README.md
  --help            print this
`;

export function readOptions(args: readonly string[], known: readonly string[]): Options {
  const values = parse(args);
  const quick = values.quick ?? false;
  return {
    quick,
    repeat: readRepeat(values.repeat ?? (quick ? "1" : "3")),
    only: values.only === undefined ? known : readNames(values.only, known),
    json: values.json ?? null,
    markdown: values.markdown ?? false,
    dir: values.dir ?? null,
    help: values.help ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: "boolean" },
        repeat: { type: "string" },
        only: { type: "string" },
        dir: { type: "string" },
        json: { type: "string" },
        markdown: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readRepeat(text: string): number {
  const repeat = Number(text);
  if (Number.isInteger(repeat) && repeat >= 1 && repeat <= 100) return repeat;
  throw new UsageError(`--repeat is "${text}"; it must be a whole number from 1 to 100.`);
}

function readNames(text: string, known: readonly string[]): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const stranger = names.find((name) => !known.includes(name));
  if (stranger === undefined) return known.filter((name) => names.includes(name));
  throw new UsageError(`There is no workload "${stranger}"; there are ${known.join(", ")}.`);
}
