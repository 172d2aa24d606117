/** Which command is meant by what was typed. */

import { nearest } from "../model/nearest.ts";
import type { Command, OptionTable } from "./command.ts";
import { connectionOptions } from "./common-options.ts";
import { UsageError } from "./problems.ts";

export interface FoundCommand {
  readonly command: Command;
  /** What is left for it to parse. */
  readonly words: readonly string[];
}

/** The command with the longest name that the words begin with. Connection options may stand before it. */
export function findCommand(commands: readonly Command[], typed: readonly string[]): FoundCommand {
  const leading = leadingOptions(typed);
  const words = typed.slice(leading.length);
  const found = commandNamed(commands, words);
  if (found === undefined) throw words.length === 0 ? noCommand(leading) : unknownCommand(commands, words);
  return { command: found.command, words: [...words.slice(found.name.length), ...leading] };
}

/** The command with the longest name that the words begin with, and that name. */
export function commandNamed(
  commands: readonly Command[],
  words: readonly string[],
): NamedCommand | undefined {
  return commandsByName(commands)
    .filter(({ name }) => name.every((word, at) => words[at] === word))
    .sort((a, b) => b.name.length - a.name.length)[0];
}

export interface NamedCommand {
  readonly command: Command;
  /** Its own, or one of its aliases. */
  readonly name: readonly string[];
}

function commandsByName(commands: readonly Command[]): readonly NamedCommand[] {
  return commands.flatMap((command) => namesOf(command).map((name) => ({ command, name })));
}

/** Every way to call it, its own name first. */
export function namesOf(command: Command): readonly (readonly string[])[] {
  return [command.path, ...(command.aliases ?? [])];
}

/** The commands whose names begin with these words and go on: what there is under `instances`. */
export function commandsUnder(
  commands: readonly Command[],
  words: readonly string[],
): readonly NamedCommand[] {
  return commandsByName(commands).filter(
    ({ name }) => name.length > words.length && words.every((word, at) => name[at] === word),
  );
}

/** Those before the first word of a command. */
export function leadingOptions(typed: readonly string[]): readonly string[] {
  let at = 0;
  while (typed[at]?.startsWith("-")) at += takesNext(typed[at] as string) ? 2 : 1;
  return typed.slice(0, at);
}

function takesNext(word: string): boolean {
  const options: OptionTable = connectionOptions;
  if (word.startsWith("--")) return !word.includes("=") && Object.hasOwn(options, word.slice(2));
  return Object.values(options).some(({ short }) => short !== undefined && word === `-${short}`);
}

/** Nothing but options was typed, which stand alone only where they are these. */
function noCommand(leading: readonly string[]): UsageError {
  const known = [...Object.keys(connectionOptions).map((name) => `--${name}`), "-H", "--help", "--version"];
  const names = leading.filter((word) => word.startsWith("-")).map((word) => word.split("=")[0] as string);
  const unknown = names.find((name) => !known.includes(name) && !/^-H./.test(name));
  if (unknown === undefined) return new UsageError("The command is missing.", helpHint(""));
  const meant = unknown === "-v" ? "--version" : nearest(unknown, known);
  return new UsageError(
    `There is no option ${unknown}.`,
    meant === undefined ? helpHint("") : `Did you mean ${meant}?`,
  );
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const [first = "", second] = words;
  const below = commandsUnder(commands, [first]);
  const typed = second !== undefined && below.length > 0 ? `${first} ${second}` : first;
  if (below.length > 0 && second === undefined) {
    const names = below.map(({ name }) => name.slice(1).join(" "));
    return new UsageError(`"everstep ${first}" needs one more word: ${names.join(", ")}.`, helpHint(first));
  }
  const names = commandsByName(commands).map(({ name }) => name.join(" "));
  const meant =
    nearest(words.slice(0, 2).join(" "), names) ?? nearest(typed, names) ?? nearestWord(commands, words);
  return new UsageError(
    `There is no command "everstep ${typed}".`,
    meant === undefined ? helpHint(below.length > 0 ? first : "") : `Did you mean "everstep ${meant}"?`,
  );
}

/** `everstep instance get order o-1` is about the first word, `everstep instances gett` about the second. */
function nearestWord(
  commands: readonly Command[],
  [first = "", second = ""]: readonly string[],
): string | undefined {
  const firsts = [...new Set(commandsByName(commands).map(({ name }) => name[0] as string))];
  const meantFirst = firsts.includes(first) ? first : nearest(first, firsts);
  if (meantFirst === undefined) return undefined;
  const seconds = commandsUnder(commands, [meantFirst]).map(({ name }) => name[1] as string);
  const meantSecond = seconds.includes(second) ? second : nearest(second, seconds);
  if (meantSecond !== undefined) return `${meantFirst} ${meantSecond}`;
  return meantFirst === first ? undefined : meantFirst;
}

function helpHint(words: string): string {
  return `"everstep help${words === "" ? "" : ` ${words}`}" lists what there is.`;
}
