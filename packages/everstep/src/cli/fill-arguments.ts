/** Which positional is which argument. */
import { parseJson } from "../model/json.ts";
import type { Argument, Command } from "./command.ts";
import { UsageError } from "./problems.ts";

/**
 * Arguments that were given as options take no positional. The required ones that are left get theirs, and what is over
 * goes to the optional ones from left to right: `[workflow] <id>` reads one word as the id, two as both. What can only be
 * JSON goes to an argument at the end that is JSON: `[workflow] <id> <type> [payload]` reads `o-17 approved 5` so.
 */
export function fillArguments(
  command: Command,
  givenAsOptions: ReadonlySet<string>,
  positionals: readonly string[],
): ReadonlyMap<Argument, string> {
  const open = (command.arguments ?? []).filter(
    ({ name, asOption }) => !(asOption && givenAsOptions.has(name)),
  );
  const required = open.filter(({ optional }) => !optional);
  if (positionals.length < required.length) throw missing(command, required, positionals);
  if (positionals.length > open.length) throw tooMany(command, positionals[open.length] as string);
  const last = open.at(-1);
  const word = positionals.at(-1);
  const isOver = positionals.length > required.length && positionals.length < open.length;
  if (!isOver || !last?.optional || last.type !== "json" || word === undefined || !isJson(word))
    return assign(open, positionals, positionals.length - required.length);
  const texts = assign(open.slice(0, -1), positionals.slice(0, -1), positionals.length - 1 - required.length);
  return new Map([...texts, [last, word]]);
}

function isJson(word: string): boolean {
  try {
    parseJson(word);
    return true;
  } catch {
    return false;
  }
}

function assign(
  open: readonly Argument[],
  positionals: readonly string[],
  optionalCount: number,
): ReadonlyMap<Argument, string> {
  const texts = new Map<Argument, string>();
  let left = optionalCount;
  let at = 0;
  for (const argument of open) {
    if (argument.optional && left-- <= 0) continue;
    texts.set(argument, positionals[at++] as string);
  }
  return texts;
}

function missing(
  command: Command,
  required: readonly Argument[],
  positionals: readonly string[],
): UsageError {
  const names = required.slice(positionals.length).map(({ name }) => `<${name}>`);
  const first = required[positionals.length] as Argument;
  const path = command.path.join(" ");
  return new UsageError(
    `"everstep ${path}" needs ${names.join(" and ")}: ${first.summary}.`,
    `For example: everstep ${command.examples[0]?.line}`,
  );
}

function tooMany(command: Command, first: string): UsageError {
  return new UsageError(
    `"everstep ${command.path.join(" ")}" does not take ${JSON.stringify(first)}.`,
    "Put quotes around a value that has spaces in it.",
  );
}
