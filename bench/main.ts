/** Measures the engine on a store beside the same store without it, in one run. See README.md. */

import { inspect } from "node:util";
import { measureAllStores } from "./all-stores.ts";
import { type Comparison, compareWith } from "./compare/comparison.ts";
import { InstallError } from "./compare/install.ts";
import { prepareAlternatives } from "./compare/prepare.ts";
import { makeFolder } from "./folder.ts";
import type { Ground } from "./grounds/ground.ts";
import { MissingServer } from "./grounds/namespaces.ts";
import { openGround } from "./grounds/open-ground.ts";
import { currentLoad, describeMachine } from "./machine.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { hand } from "./outputs.ts";
import { progressOn } from "./progress.ts";
import { reasonText } from "./reason-text.ts";
import { type Failure, reportOf, type WorkloadReport } from "./report.ts";
import { measureRounds, type Surroundings } from "./rounds.ts";
import { targetsOf } from "./targets.ts";
import { postgresStatements, watchWire } from "./wire.ts";
import type { Workload } from "./workload.ts";
import { ownWorkloads } from "./workloads/all.ts";

process.exitCode = await main();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  try {
    const options = readOptions(args, [...ownWorkloads.map(({ name }) => name), "compare"]);
    if (options.help) process.stdout.write(`${usage}\nworkloads:\n${workloadList(ownWorkloads)}\n`);
    else if (options.all) return await measureAllStores(args, options);
    else return await measure(options);
    return 0;
  } catch (error) {
    const isExpected = error instanceof MissingServer || error instanceof InstallError;
    if (isExpected) process.stderr.write(`${error.message}\n`);
    else if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
    else throw error;
    return 2;
  }
}

/** Gives the exit code: 1 if a workload failed. */
async function measure(options: Options): Promise<number> {
  const startedAt = performance.now();
  const progress = progressOn(process.stderr);
  const comparison = compareWith(await prepareAlternatives(options, progress));
  const folder = makeFolder(options.dir);
  const wire = watchWire(options.store === "postgres" ? postgresStatements : null);
  const ground = await openGround(options.store, folder);
  leaveNothing(ground);
  try {
    const machine = describeMachine(folder);
    const around: Surroundings = { ground, wire, options, progress, rowDifferences: new Set() };
    const workloads = [...ownWorkloads, comparison.workload];
    const reports: WorkloadReport[] = [];
    const failures: Failure[] = [];
    for (const workload of workloads.filter(({ name }) => isWanted(name, options, comparison))) {
      const start = performance.now();
      try {
        const rounds = await measureRounds(workload, around);
        const seconds = (performance.now() - start) / 1000;
        reports.push(reportOf(workload, workload.lines(options.sizes, ground), rounds, seconds));
      } catch (error) {
        // The others may have taken long; they are not thrown away.
        process.stderr.write(`${inspect(error)}\n`);
        failures.push({ workload: workload.name, reason: reasonText(error) });
      }
    }
    hand(options, {
      store: { name: ground.name, title: ground.title, about: ground.about },
      machine: { ...machine, loadAfter: currentLoad() },
      day: new Date().toISOString().slice(0, 10),
      warnings: await warningsOf(ground),
      quick: options.quick,
      repeat: options.repeat,
      seconds: (performance.now() - startedAt) / 1000,
      rowDifferences: [...around.rowDifferences],
      failures,
      workloads: reports,
      libraries: comparison.libraries(),
      targets: targetsOf(workloads, reports, options.sizes, ground),
    });
    return failures.length === 0 ? 0 : 1;
  } finally {
    await ground.close();
  }
}

/** Whoever names libraries wants them compared, whatever else is left out. */
function isWanted(name: string, { only }: Options, { count }: Comparison): boolean {
  return name === "compare" ? count > 0 : only.includes(name);
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

function workloadList(workloads: readonly Workload[]): string {
  return workloads.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join("\n");
}
