/** From what was typed to an exit code. Everything that belongs to the process is handed in. */
import type { Runtime } from "../index.ts";
import type { Command, CommandContext, ExitCode, Running } from "./command.ts";
import type { ConnectionValues } from "./common-options.ts";
import { type ClientFactory, connect } from "./connection/connect.ts";
import { Secrets } from "./connection/secrets.ts";
import { commandNamed, findCommand, leadingOptions } from "./find-command.ts";
import { writeHelpOn } from "./help/help.ts";
import { writeOverview } from "./help/overview.ts";
import type { Input } from "./input.ts";
import type { Output } from "./output/output.ts";
import { optionsOf, parse, type Values } from "./parse.ts";
import { reportProblem } from "./report-problem.ts";

export interface World {
  readonly commands: readonly Command[];
  readonly version: string;
  readonly out: Output;
  readonly err: Output;
  readonly input: Input;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  readonly createClient: ClientFactory;
}

export async function runCli(words: readonly string[], world: World): Promise<ExitCode> {
  const secrets = new Secrets();
  try {
    return await dispatch(words, world, secrets);
  } catch (error) {
    return world.signal.aborted ? 130 : reportProblem(error, optionsTyped(words, world), world.err, secrets);
  }
}

/** The names of those that the command takes, if there is one. */
function optionsTyped(words: readonly string[], { commands }: World): readonly string[] {
  const found = commandNamed(commands, words.slice(leadingOptions(words).length));
  return found === undefined ? [] : Object.keys(optionsOf(found.command));
}

async function dispatch(words: readonly string[], world: World, secrets: Secrets): Promise<ExitCode> {
  const { commands, out, signal } = world;
  if (words.length === 0 || words.some(isHelp)) {
    const about = words.slice(leadingOptions(words).length);
    const isSaid = writeHelpOn(about, commands, out) || writeHelpOn(about.slice(0, 1), commands, out);
    if (!isSaid) writeOverview(commands, out);
    return 0;
  }
  if (words[0] === "--version" || words[0] === "-V") {
    out.line(`everstep ${world.version}`);
    return 0;
  }
  const found = findCommand(commands, words);
  const values = parse(found.command, found.words);
  const work = found.command.run(contextFor(values, world, secrets));
  return found.command.stopsItself ? ((await work) ?? 0) : untilStopped(work, signal);
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

function contextFor(values: Values, world: World, secrets: Secrets): CommandContext {
  const { out, err, input, env, cwd, runtime, signal } = world;
  const connection = values as unknown as ConnectionValues;
  return {
    values,
    out,
    err,
    input,
    env,
    cwd,
    runtime,
    signal,
    connect: () => connect(connection, world, secrets),
  };
}

function untilStopped(work: Running, signal: AbortSignal): Promise<ExitCode> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(130);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then((code) => resolve(code ?? 0), reject);
  });
}
