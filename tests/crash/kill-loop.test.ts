import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, createWorkflows, type InstanceHandle, type StepView } from "everstep";
import { sqlite } from "everstep/sqlite";
import { afterAll, expect, test } from "vitest";
import { type LedgerLine, programs, readLedger } from "./program.ts";

const kills = 100;
/** Always the same, so that a change is judged by what it does. */
const seed = 4711;
const journeys = Math.ceil(kills * 0.8);
const folder = mkdtempSync(join(tmpdir(), "everstep-kill-loop-"));
const database = join(folder, "app.db");
const ledgerFile = join(folder, "ledger.jsonl");
const workers = new Set<ChildProcess>();

afterAll(() => {
  for (const worker of workers) worker.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test(`after ${kills} kills at random moments every instance is complete and no completed step ran again (seed ${seed})`, {
  timeout: 900_000,
}, async () => {
  const random = seeded(seed);
  const app = createWorkflows({ workflows: programs(ledgerFile), store: sqlite(database) });
  const killed = new Set<number>();
  const instances: InstanceHandle[] = [];
  const running: ChildProcess[] = [];
  for (let kill = 0; kill < kills; kill++) {
    await createMore(app, instances, kill);
    while (running.length < 2) running.push(await startWorker());
    await new Promise((resolve) => setTimeout(resolve, random() * 250));
    await sendTicket(instances, random);
    const [victim] = running.splice(random() < 0.5 ? 0 : 1, 1) as [ChildProcess];
    killed.add(victim.pid as number);
    victim.kill("SIGKILL");
    await once(victim, "exit");
    workers.delete(victim);
  }
  for (const instance of instances)
    await instance.sendEvent({ type: "ticket", payload: { number: 7 } }).catch(ignoreTerminal);
  for (const instance of instances) {
    const result = await instance.result({ timeout: "60 seconds" });
    expect(result, `instance ${instance.id}`).toMatchObject({ status: "complete", timedOut: false });
    expect(result.output).toMatchObject({
      first: `pack of ${instance.id}`,
      last: `arrive of ${instance.id}`,
    });
  }
  const errands = await Promise.all(
    instances.map((instance) => app.workflows.ERRAND.get(`${instance.id}-errand`)),
  );
  for (const errand of errands)
    expect((await errand.result({ timeout: "60 seconds" })).status).toBe("complete");
  const ledger = readLedger(ledgerFile);
  const explained = { bodies: 0, once: 0, cutOff: 0, failed: 0 };
  for (const instance of [...instances, ...errands]) await explain(instance, ledger, killed, explained);
  console.info(`kill loop: ${kills} kills, ${instances.length + errands.length} instances,`, explained);
  const report = await app.verify({ history: true });
  expect(report, report.summary).toMatchObject({ violations: [], unreadable: [], complete: true });
  await app.stop();
  for (const worker of workers) worker.kill("SIGTERM");
});

/** Every body the ledger saw is accounted for: it was recorded, it was a recorded failure, or its process was killed. */
async function explain(
  instance: InstanceHandle,
  ledger: readonly LedgerLine[],
  killed: ReadonlySet<number>,
  explained: { bodies: number; once: number; cutOff: number; failed: number },
): Promise<void> {
  const steps = (await instance.history({ pageSize: 100 })).steps;
  const mine = ledger.filter((line) => line.instanceId === instance.id);
  for (const step of steps.filter(({ type, status }) => type === "do" && status === "completed")) {
    const lines = mine.filter((line) => line.step === step.name);
    const begins = lines.filter(({ what }) => what === "begin");
    const what = `${instance.id} ${step.name}`;
    expect(begins.length, what).toBeGreaterThan(0);
    for (const begin of begins)
      expect(begin.at, `${what} began after it was completed`).toBeLessThanOrEqual(settledAt(step));
    const failures = lines.filter((line) => line.what === "fail");
    // The one start that was recorded, failed attempts, and starts whose process was killed before they were recorded.
    const byLiving = begins.filter(({ pid }) => !killed.has(pid));
    const recordedFailures = step.errors.length;
    expect(
      byLiving.length,
      `${what}: more than one start by processes that were never killed`,
    ).toBeLessThanOrEqual(1 + failures.filter(({ pid }) => !killed.has(pid)).length);
    expect(recordedFailures, `${what}: failures recorded that never happened`).toBeLessThanOrEqual(
      failures.length,
    );
    explained.bodies += begins.length;
    explained.once += begins.length === 1 + recordedFailures ? 1 : 0;
    explained.failed += recordedFailures;
    explained.cutOff += begins.length - 1 - recordedFailures;
  }
}

function settledAt(step: StepView): number {
  return (step.settledAt as Date).getTime();
}

async function createMore(
  app: App<ReturnType<typeof programs>>,
  instances: InstanceHandle[],
  kill: number,
): Promise<void> {
  const wanted = Math.ceil(((kill + 1) / kills) * journeys);
  while (instances.length < wanted) {
    instances.push(await app.workflows.JOURNEY.create({ id: `j-${instances.length}` }));
  }
}

/** The same ticket twice, at any time: before the wait, during it, after a kill. */
async function sendTicket(instances: readonly InstanceHandle[], random: () => number): Promise<void> {
  const instance = instances[Math.floor(random() * instances.length)];
  const event = { type: "ticket", payload: { number: 7 }, idempotencyKey: `ticket-${instance?.id}` };
  await instance?.sendEvent(event);
  await instance?.sendEvent(event);
}

function ignoreTerminal(error: { readonly code?: string }): void {
  if (error.code !== "INSTANCE_TERMINAL") throw error;
}

async function startWorker(): Promise<ChildProcess> {
  const worker = fork(join(import.meta.dirname, "worker.ts"), [database, ledgerFile], {
    execArgv: ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"],
  });
  workers.add(worker);
  await once(worker, "message");
  return worker;
}

/** mulberry32 */
function seeded(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
