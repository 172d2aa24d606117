/** Everything at one glance: good enough that a reader needs nothing else to begin. */
import type { Command, CommandGroup, Option } from "../command.ts";
import { connectionOptions } from "../common-options.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import {
  capitalized,
  type Definition,
  writeDefinitions,
  writeHeading,
  writeParagraph,
} from "./definitions.ts";
import { optionLine, signatureOf } from "./usage-line.ts";

const groups: readonly CommandGroup[] = ["Host", "Workflows and topics", "Instances", "Help"];

export function writeOverview(commands: readonly Command[], out: Output): void {
  out.line(painted("bold", "Usage:"), " everstep <command> [arguments] [options]");
  for (const group of groups) writeGroup(group, commands, out);
  writeHeading("Connection", out);
  writeDefinitions(
    Object.entries<Option>(connectionOptions).map(([name, option]) => ({
      name: optionLine(name, option),
      text: option.summary,
    })),
    out,
  );
  writeHeading("Where the server is", out);
  writeParagraph(
    "The URL is that of the mount, with its whole path. It is taken from the first of these that has one; in a folder " +
      'where "everstep dev" runs, none is needed.',
    out,
  );
  writeDefinitions(urlSources, out);
  writeHeading("How to log in", out);
  writeDefinitions(headerSources, out);
  writeHeading("Exit codes", out);
  writeDefinitions(exitCodes, out);
  writeHeading("Examples", out);
  for (const line of firstSteps) out.line(`  ${line}`);
}

function writeGroup(group: CommandGroup, commands: readonly Command[], out: Output): void {
  const members = commands.filter((command) => command.group === group);
  if (members.length === 0) return;
  writeHeading(group, out);
  writeDefinitions(members.map(summaryOf), out);
}

function summaryOf(command: Command): Definition {
  const aliases = (command.aliases ?? []).map((words) => words.join(" "));
  const also = aliases.length === 0 ? "" : ` (also: ${aliases.join(", ")})`;
  return { name: signatureOf(command), text: `${capitalized(command.summary)}${also}` };
}

const urlSources: readonly Definition[] = [
  { name: "--url", text: "the option" },
  { name: "EVERSTEP_URL", text: "the environment" },
  {
    name: "everstep.config.json",
    text: 'in this folder or one above: { "url": "https://host/api/workflows" }',
  },
  { name: "~/.config/everstep/config.json", text: "the same, for everything you do" },
  { name: ".everstep/dev.json", text: 'in this folder or one above: written by "everstep dev"' },
];

const headerSources: readonly Definition[] = [
  {
    name: "EVERSTEP_TOKEN",
    text: "sent as Authorization: Bearer <token>; better than -H, which other users may see",
  },
  { name: "-H, --header", text: "any header, as often as needed" },
  {
    name: "a config file",
    text: '{ "url": ..., "headers": { "Name": "value" } }; sent to the server of that url only',
  },
];

const exitCodes: readonly Definition[] = [
  { name: "0", text: "it worked" },
  { name: "64", text: "it was called wrongly: an unknown command or option, a value that cannot be" },
  {
    name: "70",
    text: "it failed: no answer, refused, or the instance that was waited for ended with an error",
  },
];

const firstSteps: readonly string[] = [
  "everstep init my-app && cd my-app && npx everstep dev",
  "everstep workflows list",
  `everstep instances create order '{"amount": 5}' --wait`,
  "everstep instances list --status errored",
  "everstep instances why order o-17",
];
