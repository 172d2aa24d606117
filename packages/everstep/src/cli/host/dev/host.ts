/** The child of `everstep dev`: loads the file, and when told so runs its workflows and answers HTTP, in one process. */
import type { Runtime } from "../../../index.ts";
import type { ExitCode } from "../../command.ts";
import type { Output } from "../../output/output.ts";
import { painted } from "../../output/paint.ts";
import { spokenDuration } from "../../output/time.ts";
import { counted } from "../counted.ts";
import { notBuilt } from "../own-dashboard.ts";
import { loadFile } from "../user-file/load-file.ts";
import { loadProblem } from "../user-file/load-problem.ts";
import { writeBanner } from "./banner.ts";
import { type DevApp, devApp } from "./dev-app.ts";
import { type Listening, listen, PortsTaken } from "./listen.ts";
import { LiveLines } from "./live-lines.ts";
import type { Order, Report } from "./messages.ts";
import { readOrders } from "./orders.ts";
import { survivorLines } from "./survivors.ts";

/** Enough for an answer to leave this process. */
const killAfterMs = 100;

export interface HostSettings {
  readonly file: string;
  readonly storePath: string;
  readonly skipsAuthorize: boolean;
  readonly isQuiet: boolean;
  readonly program: string;
  readonly cwd: string;
  readonly out: Output;
  readonly err: Output;
  readonly runtime: Runtime;
}

export async function runHost(settings: HostSettings): Promise<ExitCode> {
  const orders = readOrders();
  const dev = await load(settings);
  if (dev === null) return 70;
  const order = await orders.next();
  if (order.kind !== "start") return 0;
  try {
    // Without its port it would be of no use, so that comes before anything runs.
    const listening = await listen(dev, order.ports, order.token, () => killSoon(settings.runtime));
    const { url, port } = listening;
    await report({ kind: "listening", url, port, takesToken: !dev.asksItself });
    if ((await orders.next()).kind !== "run") return 0;
    tellOtherPort(order.ports, listening.port, settings.out);
    const stop = orders.next();
    const begun = begin(dev, order, url, settings);
    // A store that is out of reach is waited for, but not by somebody who wants to stop; then its failure is nobody's.
    begun.catch(() => {});
    await Promise.race([stop, begun]);
    await report({ kind: "serving" });
    return await stopGently(dev, listening, await stop, settings);
  } catch (error) {
    await report(refusal(error));
    return 70;
  }
}

async function load({ file, err, ...settings }: HostSettings): Promise<DevApp | null> {
  const loading = await loadFile(file);
  if (loading.kind === "failed") {
    await report(loading);
    return null;
  }
  const { files, exported } = loading;
  try {
    const onProblem = (problem: string): void => err.line(painted("red", problem));
    const app = await devApp(file, exported, { ...settings, onProblem });
    await report({ kind: "loaded", files });
    return app;
  } catch (error) {
    await report({ kind: "failed", files, problem: await loadProblem(error, file) });
    return null;
  }
}

async function begin(
  dev: DevApp,
  { why, token }: Extract<Order, { kind: "start" }>,
  url: string,
  settings: HostSettings,
): Promise<void> {
  const { out, runtime, isQuiet, file, cwd, program } = settings;
  const { app, storePath, dashboard, asksItself } = dev;
  const workflows = (await app.manifest()).map(({ name }) => name);
  const survivors = why === "died" ? await survivorLines(app) : [];
  // The file's own copy of the library may be an older one, which tells nobody.
  if (!isQuiet) app.observe?.(new LiveLines(out, runtime));
  if (why === "first") {
    // Behind the # no server and no log ever sees it.
    const dashboardUrl = dashboard ? `${url}dashboard/${asksItself ? "" : `#token=${token}`}` : null;
    writeBanner(out, {
      url,
      dashboardUrl,
      asksItself,
      file,
      workflows,
      storePath,
      cwd,
      pid: process.pid,
      program,
    });
    if (!dashboard) out.line(painted("yellow", notBuilt));
  } else {
    const begun = why === "changed" ? "Running the new code" : "Running again";
    out.line(painted("cyan", `${begun} (process ${process.pid}): ${workflows.join(", ")}.`));
    for (const line of survivors) out.line("  ", line);
  }
  await app.start();
}

async function stopGently(
  { app }: DevApp,
  listening: Listening,
  order: Order,
  { out }: HostSettings,
): Promise<ExitCode> {
  const { graceMs, isLast } = order.kind === "stop" ? order : { graceMs: 0, isLast: false };
  const ending = Promise.all([app.stop({ grace: graceMs }), listening.close()]);
  const hint = isLast ? " Ctrl-C again ends it at once." : "";
  const grace = spokenDuration(graceMs);
  out.line(painted("dim", `Process ${process.pid} stops; bodies in flight may take ${grace}.${hint}`));
  const [{ finished, released }] = await ending;
  const parts = [
    ...(finished > 0 ? [`${counted(finished, "turn")} finished`] : []),
    ...(released > 0 ? [`${released} cut off, to run again`] : []),
  ];
  if (parts.length > 0) out.line(painted("dim", `Stopped: ${parts.join(", ")}.`));
  return 0;
}

/** As a crash would: nothing is finished, nothing is given back. Whoever asked for it is answered before. */
function killSoon(runtime: Runtime): void {
  runtime.timer(() => process.kill(process.pid, "SIGKILL"), killAfterMs);
}

/** Whoever asked for no port in particular may still expect the usual one. */
function tellOtherPort([usual, ...others]: readonly number[], port: number, out: Output): void {
  if (others.length === 0 || port === usual) return;
  out.line(painted("yellow", `Port ${usual} is taken by another program; ${port} is used instead.`));
}

function refusal(error: unknown): Report {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PortsTaken) return { kind: "refused", message, hint: error.hint, isFinal: true };
  return { kind: "refused", message, isFinal: false };
}

/** Resolves when it is on its way: this process may end right after. */
function report(message: Report): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}
