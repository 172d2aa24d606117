/**
 * The demo: an order goes through a workflow on SQLite while its worker processes are killed. Start with workflow.ts,
 * which is what you would write, and worker.ts, which runs it; everything else is the show around them.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkflows } from "everstep";
import { sqlite } from "everstep/sqlite";
import { Director } from "./director.ts";
import { ledgerVariable, prove, readLedger } from "./ledger.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { type Cast, type Look, rowsOf, workerLines } from "./progress.ts";
import { type Picture, Screen, type Stage } from "./screen.ts";
import { summaryOf } from "./summary.ts";
import { Transcript } from "./transcript.ts";
import { WorkerProcess } from "./worker-process.ts";
import { fulfilOrder } from "./workflow.ts";

const order = { orderId: "order-1042", parcels: ["A", "B"] };

/** What is to come, so that the list can show it from the start. The workflow itself needs no such list. */
const plan = [
  "reserve stock",
  "charge card",
  ...order.parcels.flatMap((parcel) => [`pack parcel ${parcel}`, `print label ${parcel}`]),
  "wait for carrier",
  "hand over",
  "send invoice",
  "close order",
];

const killAtDefault = ["print label B", "wait for carrier"];

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2), process.env, plan, killAtDefault);
    if (!options.help) return await play(options);
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

async function play(options: Options): Promise<number> {
  const startedAt = Date.now();
  const folder = makeFolder(options.keep);
  const files = { store: join(folder, "order.db"), effects: join(folder, "effects.jsonl") };
  const stage = openStage();
  let keep = options.keep;
  let worker: WorkerProcess | undefined;
  // However the demo ends: no child is left behind, the cursor is back and the disk is clean.
  onExit(
    async () => worker?.kill(),
    () => {
      void worker?.kill();
      stage.close();
      if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  );

  const app = createWorkflows({ workflows: { fulfilOrder }, store: sqlite(files.store) });
  try {
    const instance = await app.workflows.fulfilOrder.create({ id: order.orderId, params: order });
    const env = { [ledgerVariable]: files.effects, EVERSTEP_DEMO_SPEED: String(options.speed) };
    const startWorker = (): WorkerProcess => (worker = new WorkerProcess(files.store, env));
    const show = (look: Look, cast: Cast): void => stage.show(pictureOf(look, cast, startedAt));
    const { look, cast } = await new Director({ ...options, instance, plan, startWorker, show }).run();
    await worker?.stop();

    const proof = prove(readLedger(files.effects), look);
    keep ||= proof.faults.length > 0;
    const elapsedMs = look.at - startedAt;
    say(summaryOf({ proof, kills: cast.kills.length, elapsedMs, kept: keep ? files : null }));
    return proof.faults.length === 0 ? 0 : 1;
  } catch (error) {
    keep = true;
    const reason = error instanceof Error ? error.message : String(error);
    say(["", `The demo could not go on: ${reason}`, `Its files are in ${folder}.`]);
    return 1;
  } finally {
    await app.stop();
  }
}

function pictureOf(look: Look, cast: Cast, startedAt: number): Picture {
  return {
    title: "everstep: an order that survives kill -9",
    subtitle: `workflow "${fulfilOrder.name}", ${order.orderId}, SQLite`,
    elapsedMs: look.at - startedAt,
    rows: rowsOf(plan, look, cast),
    workers: workerLines(look, cast),
  };
}

function makeFolder(keep: boolean): string {
  if (!keep) return mkdtempSync(join(tmpdir(), "everstep-demo-"));
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const folder = join(process.cwd(), ".everstep", `demo-${stamp}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function openStage(): Stage {
  const { env, stdout } = process;
  const isScreen = stdout.isTTY && env.TERM !== "dumb" && !env.CI;
  return isScreen ? new Screen(stdout) : new Transcript((line) => say([line]));
}

function say(lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

function onExit(beforeExit: () => Promise<void>, atExit: () => void): void {
  process.once("exit", atExit);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      void beforeExit().finally(() => process.exit(128 + constants.signals[signal]));
    });
  }
  // Nobody reads any more, as with `| head`.
  process.stdout.once("error", () => process.exit(1));
}
