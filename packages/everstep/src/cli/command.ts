/**
 * A command is data: how it is called, what it says of itself, and what it does. Parsing, help, completion and the
 * documentation are all read from here, so they cannot drift apart.
 */
import type { Client } from "../fetch-client/index.ts";
import type { Runtime } from "../index.ts";
import type { Input } from "./input.ts";
import type { Moment } from "./moment.ts";
import type { Output } from "./output/output.ts";

export interface Command {
  /** The words it is called by: `["instances", "list"]`. */
  readonly path: readonly string[];
  /** Other words for it: `[["wf", "ls"]]`. */
  readonly aliases?: readonly (readonly string[])[];
  /** Under which heading the overview has it. */
  readonly group: CommandGroup;
  /** One line, without a full stop. */
  readonly summary: string;
  /** More about it, one paragraph per item. */
  readonly description?: readonly string[];
  readonly arguments?: readonly Argument[];
  /** By their long name: `"page-size"` is `--page-size`, and `values.pageSize` in `run`. */
  readonly options?: OptionTable;
  /** At least one; all of them must parse. */
  readonly examples: readonly Example[];
  /** Talks to a server: it takes --url, --header, --timeout, --retries too, and may call `connect`. */
  readonly connects?: true;
  /** It hosts something: Ctrl-C only aborts `signal`, and it returns when all is stopped. Others are left at once. */
  readonly stopsItself?: true;
  /** Resolves with the exit code; nothing is success. Throw UsageError (64) or CommandFailed (70) for the others. */
  run(context: CommandContext): Running;
}

export type CommandGroup = "Instances" | "Workflows and topics" | "Host" | "Help";

/** Success, called wrongly, failed, stopped by Ctrl-C. */
export type ExitCode = 0 | 64 | 70 | 130;

/** Nothing is success. */
export type Running = Promise<ExitCode | undefined> | Promise<void>;

export interface CommandContext<Values = Readonly<Record<string, unknown>>> {
  /** Every argument and option by its name, in camel case. */
  readonly values: Values;
  readonly out: Output;
  readonly err: Output;
  readonly input: Input;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly runtime: Runtime;
  /** Aborted when the user wants the command to stop (Ctrl-C, SIGTERM). */
  readonly signal: AbortSignal;
  /** The client of the server that the options, the environment or a file name. No request is made. */
  connect(): Promise<Client>;
}

export interface Example {
  /** As typed after `everstep`: `instances get order o-17`. */
  readonly line: string;
  /** What it is for. */
  readonly about: string;
}

export type ValueType = "text" | "number" | "duration" | "time" | "json";

interface ValueFacts {
  readonly summary: string;
  /** `number` is a whole number, not negative; `duration` comes as milliseconds, `time` as a moment; `json` is parsed. Default `text`. */
  readonly type?: ValueType;
  /** Only these are allowed. */
  readonly choices?: readonly string[];
  /** What completion offers although others are allowed: these words, or the names of files. */
  readonly suggests?: readonly string[] | "files";
}

/** A positional. Those that are optional get what is left over after the required ones, from left to right. */
export interface Argument extends ValueFacts {
  readonly name: string;
  readonly optional?: true;
  /** May also be given as `--name`, and is then no positional any more. */
  readonly asOption?: true;
}

export type Option = FlagOption | ValueOption;

export interface FlagOption {
  readonly type: "flag";
  readonly summary: string;
  /** One letter: `-H`. */
  readonly short?: string;
}

export interface ValueOption extends ValueFacts {
  readonly short?: string;
  /** What stands for the value in help: `<json>`; default `<name of the option>`. */
  readonly placeholder?: string;
  readonly required?: true;
  /** May be given several times; its value is the list of them, possibly empty. */
  readonly repeat?: true;
}

export type OptionTable = Readonly<Record<string, Option>>;

/** A command whose `run` knows the types of its values. */
export function defineCommand<
  const Arguments extends readonly Argument[] = readonly [],
  const Options extends OptionTable = Record<never, never>,
>(
  command: Omit<Command, "arguments" | "options" | "run"> & {
    readonly arguments?: Arguments;
    readonly options?: Options;
    run(context: CommandContext<ValuesOf<Arguments, Options>>): Running;
  },
): Command {
  return command;
}

export type ValuesOf<Arguments extends readonly Argument[], Options extends OptionTable> = {
  readonly [Item in Arguments[number] as CamelCase<Item["name"]>]:
    | TypedValue<Item>
    | (Item extends { readonly optional: true } ? undefined : never);
} & {
  readonly [Name in keyof Options & string as CamelCase<Name>]: OptionValue<Options[Name]>;
};

type OptionValue<Item> = Item extends { readonly type: "flag" }
  ? boolean
  : Item extends { readonly repeat: true }
    ? readonly TypedValue<Item>[]
    : Item extends { readonly required: true }
      ? TypedValue<Item>
      : TypedValue<Item> | undefined;

type TypedValue<Item> = Item extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : Item extends { readonly type: "number" | "duration" }
    ? number
    : Item extends { readonly type: "time" }
      ? Moment
      : Item extends { readonly type: "json" }
        ? unknown
        : string;

export type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
