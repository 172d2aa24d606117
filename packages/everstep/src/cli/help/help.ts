/** What is explained: one command, or what there is under a word. */
import type { Command } from "../command.ts";
import { commandNamed, commandsUnder, type NamedCommand } from "../find-command.ts";
import type { Output } from "../output/output.ts";
import { writeCommandHelp } from "./command-help.ts";
import { capitalized, writeDefinitions } from "./definitions.ts";
import { signatureOf } from "./usage-line.ts";

/** False when the words name nothing, and then nothing is written. */
export function writeHelpOn(words: readonly string[], commands: readonly Command[], out: Output): boolean {
  const [first, second] = words;
  if (first === undefined) return false;
  const named = commandNamed(commands, words);
  const below = commandsUnder(commands, [first]);
  if (named !== undefined && (below.length === 0 || named.name.length > 1))
    writeCommandHelp(named.command, out);
  else if (below.length > 0 && second === undefined) writeBelow(first, below, out);
  else return false;
  return true;
}

function writeBelow(word: string, below: readonly NamedCommand[], out: Output): void {
  out.line(`Usage: everstep ${word} <command>`);
  out.line();
  writeDefinitions(
    below.map(({ command, name }) => ({
      name: signatureOf(command, name),
      text: capitalized(command.summary),
    })),
    out,
  );
  out.line();
  out.line(`"everstep help ${word} <command>" explains one of them.`);
}
