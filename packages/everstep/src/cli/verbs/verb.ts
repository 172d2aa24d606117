/** What can be done to an instance, and with --all to every instance that filters choose. */
import type { Client, InstanceClient } from "../../fetch-client/index.ts";
import type { Argument, CommandContext, ExitCode, OptionTable, ValuesOf } from "../command.ts";
import { filterOf, filterOptions, filterSaid } from "../instance-filter.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { jsonLine } from "../output/json-document.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { UsageError } from "../problems.ts";
import { type Chosen, chosenByFilter } from "./chosen.ts";
import { doToAll } from "./do-to-all.ts";

export const verbArguments = [
  {
    name: "workflow",
    asOption: true,
    optional: true,
    summary:
      "the workflow's name; without it the id is looked for in all workflows, and --all means all workflows",
  },
  { name: "id", asOption: true, optional: true, summary: "the instance's id; left out with --all" },
] as const satisfies readonly Argument[];

const manyOptions = {
  all: { type: "flag", summary: "every instance that the filters choose" },
  "dry-run": { type: "flag", summary: "with --all: show which ones, and change nothing" },
  yes: { type: "flag", short: "y", summary: "do not ask" },
  ...jsonLinesOption,
} as const satisfies OptionTable;

export const verbOptions = { ...manyOptions, ...filterOptions } as const satisfies OptionTable;

export type VerbValues = ValuesOf<typeof verbArguments, typeof verbOptions>;
type VerbContext = CommandContext<VerbValues>;

export interface Verb {
  /** "terminate", "terminated". */
  readonly infinitive: string;
  readonly participle: string;
  /** What --all means where no --status is given: those to whom it can be done. */
  readonly statuses: readonly string[];
  /** Asks a person before it is done to one, or to many; a script says --yes before it is done to many. */
  readonly asks?: "for one" | "for many";
  /** Of many, with what the list said of it. */
  act(instance: InstanceClient, chosen?: Chosen): Promise<unknown>;
  /** What is said when it was done to one; else "Terminated order o-17." */
  said?(instance: InstanceClient, answer: unknown): string;
}

export async function runVerb(context: VerbContext, verb: Verb): Promise<ExitCode> {
  const { values, runtime } = context;
  if (!values.all) return doToOne(context, verb);
  if (values.id !== undefined) throw new UsageError("--all and <id> are both given; one is enough.");
  const filter = filterOf(values, runtime.now());
  const status = filter.status.length > 0 ? filter.status : verb.statuses;
  return doToMany(context, verb, (client) => chosenByFilter(client, values.workflow, { ...filter, status }));
}

export type Choosing = (client: Client) => Promise<readonly Chosen[]>;

export async function doToMany(
  context: Pick<VerbContext, "values" | "out" | "err" | "input" | "connect">,
  verb: Verb,
  choose: Choosing,
): Promise<ExitCode> {
  const { values, input, out, err } = context;
  const isAsked = verb.asks !== undefined && !values.yes && !values.dryRun;
  const mayAsk = input.isTerminal && err.isTerminal;
  if (isAsked && !mayAsk) {
    throw new UsageError(
      `"--all" would ${verb.infinitive} many instances without asking anybody.`,
      "Look at them with --dry-run, then add --yes.",
    );
  }
  const client = await context.connect();
  const chosen = await choose(client);
  if (chosen.length > 0 && isAsked) {
    const many = chosen.length === 1 ? nameOf(chosen[0] as Chosen) : `${chosen.length} instances`;
    if (!(await isYes(input, `${capital(verb.infinitive)} ${many}? [y/N] `))) {
      (values.json ? err : out).line("Nothing was done.");
      return 70;
    }
  }
  return doToAll(client, chosen, verb, { out, err, isDry: values.dryRun, isJson: values.json });
}

async function doToOne(context: VerbContext, verb: Verb): Promise<ExitCode> {
  const { values, input, out, err } = context;
  const said = filterSaid(values) ?? (values.dryRun ? "--dry-run" : undefined);
  if (said !== undefined) throw new UsageError(`${said} is for many instances: add --all.`);
  const instance = await instanceOf({ values: named(values, verb), connect: context.connect });
  if (verb.asks === "for one" && !values.yes && input.isTerminal && err.isTerminal) {
    const question = `${capital(verb.infinitive)} ${nameOf(instance)}? It cannot be undone. [y/N] `;
    if (!(await isYes(input, question))) {
      (values.json ? err : out).line("Nothing was done.");
      return 70;
    }
  }
  const answer = await verb.act(instance);
  const { workflowName, id } = instance;
  if (values.json) out.raw(jsonLine({ workflowName, id, ok: true }));
  else out.line(verb.said?.(instance, answer) ?? `${capital(verb.participle)} ${nameOf(instance)}.`);
  return 0;
}

/** One word alone is the id, as everywhere. */
function named({ workflow, id }: Pick<VerbValues, "workflow" | "id">, { infinitive }: Verb) {
  if (id !== undefined) return { workflow, id };
  if (workflow !== undefined) return { workflow: undefined, id: workflow };
  throw new UsageError(
    `It needs <id>, or --all: what to ${infinitive}.`,
    "For example: order o-17, or --all --workflow order --dry-run",
  );
}

async function isYes(input: VerbContext["input"], question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await input.ask(question))?.trim() ?? "");
}

function capital(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
