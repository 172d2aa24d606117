import type { Command, Option } from "../command.ts";
import { connectionOptions } from "../common-options.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import { optionsOf } from "../parse.ts";
import {
  capitalized,
  type Definition,
  writeDefinitions,
  writeHeading,
  writeParagraph,
} from "./definitions.ts";
import { argumentText, optionLine, signatureOf } from "./usage-line.ts";

export function writeCommandHelp(command: Command, out: Output): void {
  out.line(painted("bold", "Usage:"), ` everstep ${signatureOf(command)} [options]`);
  for (const alias of command.aliases ?? [])
    out.line(`   or: everstep ${signatureOf(command, alias)} [options]`);
  out.line();
  writeParagraph(`${capitalized(command.summary)}.`, out);
  for (const paragraph of command.description ?? []) {
    out.line();
    writeParagraph(paragraph, out);
  }
  writeArguments(command, out);
  writeOptions(command, out);
  writeHeading("Examples", out);
  for (const { line, about } of command.examples) {
    out.line("  ", painted("dim", `# ${about}`));
    out.line(`  everstep ${line}`);
  }
}

function writeArguments(command: Command, out: Output): void {
  const list = command.arguments ?? [];
  if (list.length === 0) return;
  writeHeading("Arguments", out);
  const definitions = list.map((argument) => {
    const { name, summary, asOption, choices } = argument;
    const also = asOption ? ` (also as --${name})` : "";
    return { name: argumentText(argument), text: `${summary}${choiceList(choices)}${also}` };
  });
  writeDefinitions(definitions, out);
}

function writeOptions(command: Command, out: Output): void {
  const taken = new Set(command.arguments?.map(({ name }) => name));
  const options = Object.entries(optionsOf(command)).filter(([name]) => !taken.has(name));
  const isConnection = (name: string): boolean =>
    command.connects === true && Object.hasOwn(connectionOptions, name);
  writeHeading("Options", out);
  writeDefinitions(options.filter(([name]) => !isConnection(name)).map(optionDefinition), out);
  if (!command.connects) return;
  writeHeading("Connection", out);
  writeDefinitions(options.filter(([name]) => isConnection(name)).map(optionDefinition), out);
}

function optionDefinition([name, option]: readonly [string, Option]): Definition {
  const choices = option.type === "flag" ? undefined : option.choices;
  return { name: optionLine(name, option), text: `${option.summary}${choiceList(choices)}` };
}

function choiceList(choices: readonly string[] | undefined): string {
  return choices === undefined ? "" : `: ${choices.join(", ")}`;
}
