/** What can come next on a command line, as every shell's script needs it. */
import type { Command, Option } from "../command.ts";
import { commandsUnder, namesOf } from "../find-command.ts";
import { optionsOf } from "../parse.ts";

export interface Offers {
  /** By the words typed so far (`""`, `"instances"`): the words that may follow. */
  readonly words: ReadonlyMap<string, readonly Offer[]>;
  /** By the words of a command: its options. */
  readonly options: ReadonlyMap<string, readonly Offer[]>;
  /** By the option, with its dashes: the values it is offered. */
  readonly values: ReadonlyMap<string, readonly string[] | "files" | "none">;
}

export interface Offer {
  readonly text: string;
  readonly about: string;
  readonly short?: string;
}

export function offersOf(commands: readonly Command[]): Offers {
  const named = commands.flatMap((command) => namesOf(command).map((name) => ({ command, name })));
  const firsts = [...new Set(named.map(({ name }) => name[0] as string))];
  const words = new Map<string, readonly Offer[]>([["", firsts.map((first) => firstOffer(first, commands))]]);
  for (const first of firsts) {
    const below = commandsUnder(commands, [first]);
    const offers = below.map(({ command, name }) => ({ text: name[1] as string, about: command.summary }));
    if (offers.length > 0) words.set(first, offers);
  }
  const options = new Map(named.map(({ command, name }) => [name.join(" "), optionOffers(command)] as const));
  return { words, options, values: valuesOf(commands) };
}

function firstOffer(first: string, commands: readonly Command[]): Offer {
  const command = commands.find(({ path }) => path.length === 1 && path[0] === first);
  const below = commandsUnder(commands, [first]).map(({ name }) => name[1]);
  return { text: first, about: command?.summary ?? below.join(", ") };
}

function optionOffers(command: Command): readonly Offer[] {
  return Object.entries(optionsOf(command)).map(([name, { summary, short }]) => ({
    text: `--${name}`,
    about: summary,
    ...(short === undefined ? {} : { short: `-${short}` }),
  }));
}

function valuesOf(commands: readonly Command[]): Offers["values"] {
  const values = new Map<string, readonly string[] | "files" | "none">();
  for (const [name, option] of commands.flatMap((command) => Object.entries(optionsOf(command)))) {
    const offered = valueOffers(option);
    if (offered !== undefined && (offered !== "none" || !values.has(`--${name}`)))
      values.set(`--${name}`, offered);
  }
  return values;
}

/** Nothing for a flag, which takes no value. */
function valueOffers(option: Option): readonly string[] | "files" | "none" | undefined {
  if (option.type === "flag") return undefined;
  return option.choices ?? option.suggests ?? "none";
}
