import { resolve } from "node:path";
import { type CommandContext, defineCommand, type ExitCode, type ValuesOf } from "../../command.ts";
import { CommandFailed } from "../../problems.ts";
import { findFile } from "../user-file/find-file.ts";
import { spawnChild } from "./child.ts";
import { DevFolder } from "./dev-folder.ts";
import { FileWatch } from "./file-watch.ts";
import { runHost } from "./host.ts";
import { childVariable } from "./messages.ts";
import { Supervisor } from "./supervisor.ts";
import { TerminalNarrator } from "./terminal-narrator.ts";

const portDefault = 4610;
/** Where the usual port is taken, one of the next is. */
const portsTried = 20;
const graceMs = 5000;

const fileArgument = [
  {
    name: "file",
    optional: true,
    suggests: "files",
    summary:
      "the file that exports them; without it workflows.ts, everstep.ts and workflows/index.ts, also in src, are looked for",
  },
] as const;

const options = {
  port: {
    type: "number",
    summary: `the port to listen on, 0 for any (default ${portDefault}, or the next that is free)`,
  },
  store: {
    placeholder: "<path>",
    suggests: "files",
    summary: "the SQLite file to use (default .everstep/dev.db)",
  },
  "skip-authorize": {
    type: "flag",
    summary: "leave out the app's own authorize, and ask for the token of dev instead",
  },
  "no-watch": { type: "flag", summary: "do not load the file again when it changes" },
  quiet: { type: "flag", short: "q", summary: "no line for everything that happens to an instance" },
} as const;

type Values = ValuesOf<typeof fileArgument, typeof options>;
type Context = CommandContext<Values>;

export const dev = defineCommand({
  path: ["dev"],
  group: "Host",
  summary: "run the workflows of a file on this machine, with a store, HTTP and reloading",
  description: [
    "Takes a TypeScript or JavaScript file that exports workflows, or an app made with createWorkflows. Workflows get a " +
      "SQLite store in the folder .everstep; an app keeps its own. The file itself starts and serves nothing. Everything is in one process, on one port that only " +
      "this machine can reach. In the same folder, all other commands find it without --url.",
    "It asks for a token that is made anew at each start: the address of the dashboard has it, and the other commands find it in " +
      ".everstep/dev.json, which only you can read. An app with its own authorize is asked itself, unless --skip-authorize is given.",
    "When a file changes, the new code is loaded first: if it has a mistake, that is shown and the old code goes on. " +
      "Otherwise the old process finishes the bodies in flight and ends before the new one begins, so nothing runs twice. " +
      "If the process dies, it is started again and goes on where it was.",
    "Ctrl-C stops it gracefully, a second Ctrl-C at once.",
  ],
  arguments: fileArgument,
  options,
  examples: [
    { line: "dev", about: "find the workflows of this folder and run them" },
    { line: "dev src/orders.ts --port 4700", about: "the workflows of a certain file, on a certain port" },
    { line: "dev --store /tmp/try.db --quiet", about: "another store, and no line per step" },
  ],
  stopsItself: true,
  run: (context) => (context.env[childVariable] === undefined ? supervise(context) : host(context)),
});

async function supervise(context: Context): Promise<ExitCode> {
  const { values, out, err, cwd, env, runtime, signal } = context;
  const file = findFile(cwd, values.file);
  const folder = new DevFolder(cwd);
  await refuseSecond(folder);
  const watch = values.noWatch ? null : new FileWatch(runtime, (files) => supervisor.changed(files));
  const words = ["dev", file, "--store", storeOf(context, folder), ...flagsOf(values)];
  const supervisor = new Supervisor({
    spawn: (listener) => spawnChild({ words, cwd, env, startedAt: runtime.now() }, listener),
    runtime,
    narrator: new TerminalNarrator(out, err, cwd),
    watch,
    ports: portsOf(values.port),
    graceMs,
    token: runtime.uuid(),
    onListening: (url, token) =>
      folder.write({ url, pid: process.pid, ...(token === null ? {} : { token }) }),
  });
  signal.addEventListener("abort", () => supervisor.stop());
  const unhook = leaveNothing(supervisor, folder);
  try {
    return await supervisor.run();
  } finally {
    watch?.stop();
    folder.remove();
    unhook();
  }
}

/** Those that the child has to know. */
function flagsOf({ quiet, skipAuthorize }: Values): readonly string[] {
  return [...(quiet ? ["--quiet"] : []), ...(skipAuthorize ? ["--skip-authorize"] : [])];
}

async function refuseSecond(folder: DevFolder): Promise<void> {
  const running = await folder.findRunning();
  if (!running) return;
  throw new CommandFailed(
    `"everstep dev" runs in this folder already: ${running.url} (process ${running.pid}).`,
    `Use that one, or end it first: kill ${running.pid}`,
  );
}

/** The folder is made even where the store is elsewhere: the other commands find us by it. */
function storeOf({ values, cwd }: Context, folder: DevFolder): string {
  folder.make();
  return values.store === undefined ? folder.storePath : resolve(cwd, values.store);
}

function portsOf(given: number | undefined): readonly number[] {
  if (given !== undefined) return [given];
  return Array.from({ length: portsTried }, (_, at) => portDefault + at);
}

/** However this process ends, it leaves no child and no note behind. A terminal that is closed is like Ctrl-C. */
function leaveNothing(supervisor: Supervisor, folder: DevFolder): () => void {
  const stop = (): void => supervisor.stop();
  const atExit = (): void => {
    supervisor.kill();
    folder.remove();
  };
  process.on("SIGHUP", stop);
  process.once("exit", atExit);
  return () => {
    process.off("SIGHUP", stop);
    process.off("exit", atExit);
  };
}

/** This is the child. */
async function host({ values, out, err, cwd, runtime, env }: Context): Promise<ExitCode> {
  delete process.env[childVariable];
  const folder = new DevFolder(cwd);
  return runHost({
    file: findFile(cwd, values.file),
    storePath: values.store ?? folder.storePath,
    skipsAuthorize: values.skipAuthorize,
    isQuiet: values.quiet,
    program: env.EVERSTEP_PROGRAM ?? "npx everstep",
    cwd,
    out,
    err,
    runtime,
  });
}
