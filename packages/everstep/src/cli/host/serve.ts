import { type App, EverstepError, type Runtime } from "../../index.ts";
import { serve as listen, type Served } from "../../node/index.ts";
import { type CommandContext, defineCommand, type ExitCode } from "../command.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import { spokenDuration } from "../output/time.ts";
import { CommandFailed } from "../problems.ts";
import { notBuilt, ownDashboard } from "./own-dashboard.ts";
import { loadOrFail } from "./user-file/open-app.ts";

const portDefault = 4610;
const graceMsDefault = 25_000;
/** Whoever sends requests here has this long to learn that it is not ready any more. */
const lameDuckMs = 1000;

export const serve = defineCommand({
  path: ["serve"],
  group: "Host",
  summary: "run the app of a file: its workflows and its HTTP API, for production",
  description: [
    "The file exports an app made with createWorkflows, with its store and its authorization. One process, no reloading. " +
      "Without authorization every request is refused; an app that everybody may use (allowAll, or hooks that accept " +
      "everything) is only served to this machine, under its own names.",
    "SIGTERM and Ctrl-C stop it gracefully: it is not ready any more (/readyz), begins nothing new, lets bodies in flight " +
      "finish within the grace, and gives everything else back to other processes. A second signal ends it at once.",
  ],
  arguments: [{ name: "file", suggests: "files", summary: "the file that exports the app" }],
  options: {
    port: { type: "number", summary: `the port to listen on, 0 for any (default ${portDefault})` },
    host: { summary: "the address to listen on (default 127.0.0.1, 0.0.0.0 for all of this machine)" },
    public: {
      type: "flag",
      summary: "serve an app that everybody may use to other machines, and under any name, all the same",
    },
    dashboard: { type: "flag", summary: "serve the dashboard too, under /dashboard/" },
    grace: { type: "duration", summary: "how long bodies in flight may take after SIGTERM (default 25s)" },
  },
  examples: [
    { line: "serve src/app.ts", about: "on this machine, behind a proxy" },
    { line: "serve src/app.ts --dashboard", about: "with the dashboard" },
    { line: "serve src/app.ts --host 0.0.0.0 --port 8080 --grace 50s", about: "in a container" },
  ],
  stopsItself: true,
  async run(context) {
    const { values, cwd, out, signal } = context;
    const { app } = await loadOrFail(cwd, values.file);
    if (!app) {
      throw new CommandFailed(
        `${values.file} exports workflows but no app, so it says neither where they are stored nor who may use them.`,
        "Export one: export const app = createWorkflows({ workflows, store, authorize }); or try: everstep dev",
      );
    }
    const handler = values.dashboard ? await withDashboard(app) : app;
    const served = await listenOrFail(handler, values);
    // A store that is out of reach is waited for, but not by somebody who wants to stop.
    await Promise.race([app.start(), aborted(signal)]);
    if (signal.aborted) return untilStopped(app, served, 0, context);
    const names = (await app.manifest()).map(({ name }) => name);
    out.line(`Serving ${names.join(", ")} on `, painted("cyan", served.url), ` (process ${process.pid}).`);
    if (isForAll(values.host))
      out.line(`Other machines can reach it: it listens on all addresses (${values.host}).`);
    if (values.dashboard) out.line("Dashboard on ", painted("cyan", `${served.url}dashboard/`), ".");
    warnIfClosed(app, out);
    return untilStopped(app, served, values.grace ?? graceMsDefault, context);
  },
});

function isForAll(host: string | undefined): boolean {
  return host !== undefined && ["0.0.0.0", "::", "[::]"].includes(host);
}

/** The app with its own hooks and options, and the dashboard. */
async function withDashboard(app: App): Promise<ReturnType<App["fetchWith"]>> {
  const dashboard = await ownDashboard();
  if (!dashboard) throw new CommandFailed(notBuilt);
  return app.fetchWith({ dashboard });
}

interface ListenValues {
  readonly port: number | undefined;
  readonly host: string | undefined;
  readonly public: boolean;
}

async function listenOrFail(
  app: App | ReturnType<App["fetchWith"]>,
  { port = portDefault, host, ...values }: ListenValues,
): Promise<Served> {
  try {
    return await listen(app, { port, public: values.public, ...(host === undefined ? {} : { host }) });
  } catch (error) {
    if (!(error instanceof EverstepError) || error.details?.reason !== "OPEN_TO_ALL") throw error;
    throw new CommandFailed(
      `Everybody may do everything with this app (allowAll(), or hooks that accept everything), and other machines can reach ${host}.`,
      "Say who may use it: authorize: bearerToken(process.env.TOKEN). If everybody who can reach it may, add --public.",
    );
  }
}

/** Nobody has said who may use it: better heard now than from the first caller. */
function warnIfClosed(app: App, out: Output): void {
  if (!app.isClosed) return;
  out.line(
    painted(
      "yellow",
      "Nobody may use its HTTP API yet: createWorkflows({ ..., authorize: bearerToken(...) }).",
    ),
  );
}

async function untilStopped(
  app: App,
  served: Served,
  graceMs: number,
  { out, runtime, signal }: CommandContext,
): Promise<ExitCode> {
  await aborted(signal);
  out.line(
    `Stopping; bodies in flight may take ${spokenDuration(graceMs)}. A second signal ends it at once.`,
  );
  const closing = pause(runtime, lameDuckMs).then(() => served.close());
  // Not ready from here on, and nothing new begins; requests are answered until the server has closed.
  const { finished, released } = await app.stop({ grace: graceMs, until: closing });
  out.line(`Stopped: ${finished} finished, ${released} given back.`);
  return 0;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function pause(runtime: Runtime, ms: number): Promise<void> {
  return new Promise((resolve) => void runtime.timer(resolve, ms));
}
