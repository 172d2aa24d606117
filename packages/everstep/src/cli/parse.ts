/** What was typed after a command's name, as the values its `run` gets; a UsageError for everything it does not take. */

import { nearest } from "../model/nearest.ts";
import type { Argument, Command, Option, OptionTable, ValueOption } from "./command.ts";
import { commonOptions, connectionOptions } from "./common-options.ts";
import { fillArguments } from "./fill-arguments.ts";
import { UsageError } from "./problems.ts";
import { readValue } from "./value.ts";

export type Values = Readonly<Record<string, unknown>>;

export function parse(command: Command, words: readonly string[]): Values {
  const options = optionsOf(command);
  const { given, positionals } = sort(words, options, command);
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(options)) {
    values[camelCase(name)] = optionValue(name, option, given.get(name) ?? []);
  }
  const texts = fillArguments(command, new Set(given.keys()), positionals);
  for (const [argument, text] of texts) {
    values[camelCase(argument.name)] = readValue(`<${argument.name}>`, argument, text);
  }
  return values;
}

/** Every option a command takes, by its long name. */
export function optionsOf(command: Command): OptionTable {
  const fromArguments = (command.arguments ?? [])
    .filter(({ asOption }) => asOption)
    .map((argument) => [argument.name, optionOf(argument)] as const);
  return {
    ...Object.fromEntries(fromArguments),
    ...command.options,
    ...(command.connects ? connectionOptions : {}),
    ...commonOptions,
  };
}

export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function optionOf({ name: _, optional: __, asOption: ___, ...facts }: Argument): ValueOption {
  return facts;
}

function optionValue(name: string, option: Option, texts: readonly string[]): unknown {
  if (option.type === "flag") return texts.length > 0;
  const values = texts.map((text) => readValue(`--${name}`, option, text));
  if (option.repeat) return values;
  if (values.length === 0 && option.required)
    throw new UsageError(`--${name} is missing: ${option.summary}.`);
  return values[0];
}

interface Sorted {
  /** The texts each option was given, by its long name; a flag's are empty. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

function sort(words: readonly string[], options: OptionTable, command: Command): Sorted {
  const given = new Map<string, string[]>();
  const positionals: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === "--") {
      positionals.push(...words.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      positionals.push(word);
      continue;
    }
    const { name, text } = split(word, options, command);
    const option = options[name] as Option;
    const texts = given.get(name) ?? [];
    given.set(name, texts);
    if (texts.length > 0 && !mayRepeat(option)) throw new UsageError(`--${name} was given twice.`);
    texts.push(option.type === "flag" ? flagText(name, text) : (text ?? nextText(words, ++at, name, option)));
  }
  return { given, positionals };
}

function isOption(word: string): boolean {
  return /^-[^\d-]/.test(word) || /^--./.test(word);
}

/** `--name=text`, `--name`, `-Htext`, `-H`. */
function split(
  word: string,
  options: OptionTable,
  command: Command,
): { readonly name: string; readonly text: string | undefined } {
  if (!word.startsWith("--")) return splitShort(word, options, command);
  const equals = word.indexOf("=");
  const name = word.slice(2, equals === -1 ? undefined : equals);
  if (!Object.hasOwn(options, name)) throw unknownOption(`--${name}`, options, command);
  return { name, text: equals === -1 ? undefined : word.slice(equals + 1) };
}

function splitShort(
  word: string,
  options: OptionTable,
  command: Command,
): { readonly name: string; readonly text: string | undefined } {
  const letter = word.charAt(1);
  const found = Object.entries(options).find(([, { short }]) => short === letter);
  if (found === undefined) throw unknownOption(`-${letter}`, options, command);
  const rest = word.slice(2).replace(/^=/, "");
  return { name: found[0], text: word.length > 2 ? rest : undefined };
}

function mayRepeat(option: Option): boolean {
  return option.type === "flag" || option.repeat === true;
}

function flagText(name: string, text: string | undefined): string {
  if (text === undefined) return "";
  throw new UsageError(`--${name} takes no value.`);
}

// A word that looks like an option is taken for one: whoever forgot the value shall hear of it.
function nextText(words: readonly string[], at: number, name: string, option: ValueOption): string {
  const text = words[at];
  if (text !== undefined && text !== "--" && !isOption(text)) return text;
  const example = `--${name}=${option.placeholder ?? `<${name}>`}`;
  const hint = text === undefined ? undefined : `If the value begins with a dash, write ${example}.`;
  throw new UsageError(`--${name} needs a value: ${option.summary}.`, hint);
}

function unknownOption(typed: string, options: OptionTable, command: Command): UsageError {
  const known = Object.keys(options).map((name) => `--${name}`);
  const meant = nearest(typed, known);
  const path = command.path.join(" ");
  return new UsageError(
    `"everstep ${path}" has no option ${typed}.`,
    meant === undefined ? `"everstep help ${path}" lists its options.` : `Did you mean ${meant}?`,
  );
}
