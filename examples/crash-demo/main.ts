/**
 * The demo: an order goes through a workflow while its worker processes are killed. Start with workflow.ts, which is
 * what you would write, and worker.ts, which runs it; everything else is the show around them.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createWorkflows } from "everstep";
import { removeData } from "./clean-up.ts";
import { Director } from "./director.ts";
import { ledgerVariable, prove, readLedger } from "./ledger.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { type Cast, type Look, rowsOf, workerLines } from "./progress.ts";
import { type Picture, Screen, type Stage } from "./screen.ts";
import { leaseSeconds, openStore, type StoreName, stores } from "./stores.ts";
import { type Kept, summaryOf } from "./summary.ts";
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

/** How long somebody who pressed Ctrl-C has to wait for a server. */
const cleanUpMsMax = 3000;

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
  const storeTitle = stores[options.store].title;
  const folder = makeFolder(options.keep);
  const effects = join(folder, "effects.jsonl");
  const place = placeOf(options.store, folder);
  const stage = openStage();
  let keep = options.keep;
  let worker: WorkerProcess | undefined;
  const removeUnlessKept = async (): Promise<void> => {
    if (!keep) await removeData(options.store, place);
  };
  // However the demo ends: no child is left behind, the cursor is back, the disk and the server are clean.
  onExit(
    async () => {
      await worker?.kill();
      await within(cleanUpMsMax, removeUnlessKept());
    },
    () => {
      void worker?.kill();
      stage.close();
      if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  );

  const store = await openStore(options.store, place);
  const app = createWorkflows({ workflows: { fulfilOrder }, store });
  try {
    const instance = await app.workflows.fulfilOrder.create({ id: order.orderId, params: order });
    const env = { [ledgerVariable]: effects, EVERSTEP_DEMO_SPEED: String(options.speed) };
    const startWorker = (): WorkerProcess => (worker = new WorkerProcess([options.store, place], env));
    const show = (look: Look, cast: Cast): void =>
      stage.show(pictureOf(look, cast, { startedAt, storeTitle }));
    const lease = leaseSeconds(store);
    const scene = { ...options, instance, plan, leaseSeconds: lease, startWorker, show };
    const { look, cast } = await new Director(scene).run();
    await worker?.stop();

    const proof = prove(readLedger(effects), look);
    keep ||= proof.faults.length > 0;
    const kept: Kept | null = keep ? { data: dataIn(options.store, place), effects } : null;
    const ending = { proof, kills: cast.kills.length, elapsedMs: look.at - startedAt, kept };
    say(summaryOf({ ...ending, storeTitle, leaseSeconds: lease }));
    return proof.faults.length === 0 ? 0 : 1;
  } catch (error) {
    keep = true;
    const reason = error instanceof Error ? error.message : String(error);
    say(["", `The demo could not go on: ${reason}`, `Its files are in ${folder}.`]);
    return 1;
  } finally {
    await app.stop();
    await removeUnlessKept();
  }
}

function pictureOf(
  look: Look,
  cast: Cast,
  { startedAt, storeTitle }: { readonly startedAt: number; readonly storeTitle: string },
): Picture {
  return {
    title: "everstep: an order that survives kill -9",
    subtitle: `workflow "${fulfilOrder.name}", ${order.orderId}, ${storeTitle}`,
    elapsedMs: look.at - startedAt,
    rows: rowsOf(plan, look, cast),
    workers: workerLines(look, cast),
  };
}

/** A file, or a name nobody else uses on the server. */
function placeOf(store: StoreName, folder: string): string {
  return store === "sqlite" ? join(folder, "order.db") : `demo_${randomBytes(5).toString("hex")}`;
}

function dataIn(store: StoreName, place: string): string {
  return store === "sqlite" ? place : `namespace "${place}", if its server stays`;
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

async function within(ms: number, work: Promise<void>): Promise<void> {
  await Promise.race([work.catch(() => {}), delay(ms, undefined, { ref: false })]);
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
