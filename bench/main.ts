/** Measures the engine on a store beside the same store without it, in one run. See README.md. */
import { writeFileSync } from "node:fs";
import { makeFolder } from "./folder.ts";
import type { Ground } from "./grounds/ground.ts";
import { MissingServer } from "./grounds/namespaces.ts";
import { openGround } from "./grounds/open-ground.ts";
import { currentLoad, describeMachine } from "./machine.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { progressOn } from "./progress.ts";
import { markdown, plainText, type Report, reportOf, type WorkloadReport } from "./report.ts";
import { measureRounds, type Surroundings } from "./rounds.ts";
import { postgresStatements, watchWire } from "./wire.ts";
import type { Workload } from "./workload.ts";
import { cost } from "./workloads/cost.ts";
import { events } from "./workloads/events.ts";
import { latency } from "./workloads/latency.ts";
import { limits } from "./workloads/limits.ts";
import { longWorkflow } from "./workloads/long.ts";
import { nudges } from "./workloads/nudges.ts";
import { parked } from "./workloads/parked.ts";
import { resume } from "./workloads/resume.ts";
import { runners } from "./workloads/runners.ts";
import { throughput } from "./workloads/throughput.ts";
import { timers } from "./workloads/timers.ts";

const workloads: readonly Workload[] = [
  limits,
  throughput,
  latency,
  cost,
  timers,
  events,
  longWorkflow,
  resume,
  nudges,
  runners,
  parked,
];

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const names = workloads.map((workload) => workload.name);
    const options = readOptions(process.argv.slice(2), names);
    if (options.help) process.stdout.write(`${usage}\nworkloads:\n${workloadList()}\n`);
    else await measure(options);
    return 0;
  } catch (error) {
    if (error instanceof MissingServer) process.stderr.write(`${error.message}\n`);
    else if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
    else throw error;
    return 2;
  }
}

async function measure(options: Options): Promise<void> {
  const startedAt = performance.now();
  const folder = makeFolder(options.dir);
  const wire = watchWire(options.store === "postgres" ? postgresStatements : null);
  const ground = await openGround(options.store, folder);
  leaveNothing(ground);
  try {
    const machine = describeMachine(folder);
    const progress = progressOn(process.stderr);
    const around: Surroundings = { ground, wire, options, progress, rowDifferences: new Set() };
    const reports: WorkloadReport[] = [];
    for (const workload of workloads.filter(({ name }) => options.only.includes(name))) {
      const rounds = await measureRounds(workload, around);
      reports.push(reportOf(workload, workload.lines(options.sizes, ground), rounds));
    }
    print(options, {
      store: { name: ground.name, title: ground.title, about: ground.about },
      machine: { ...machine, loadAfter: currentLoad() },
      warnings: await warningsOf(ground),
      quick: options.quick,
      repeat: options.repeat,
      seconds: (performance.now() - startedAt) / 1000,
      rowDifferences: [...around.rowDifferences],
      workloads: reports,
    });
  } finally {
    await ground.close();
  }
}

async function warningsOf(ground: Ground): Promise<readonly string[]> {
  const place = ground.freshPlace();
  const store = place.open();
  await store.migrate();
  const warnings = (await store.warnings?.()) ?? [];
  await store.close();
  await place.remove();
  return warnings.map(({ message }) => message);
}

function print({ json, markdown: asMarkdown }: Options, report: Report): void {
  if (json !== null) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`\n${asMarkdown ? markdown(report) : plainText(report)}\n`);
}

/** A server that was given to us is left as it was found, also after Ctrl-C. */
function leaveNothing(ground: Ground): void {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(code), 5000);
      void ground.close().finally(() => process.exit(code));
    });
  }
}

function workloadList(): string {
  return workloads.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join("\n");
}
