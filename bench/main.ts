/** Measures the engine on SQLite beside the same SQLite without it, in one run. See README.md. */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { currentLoad, describeMachine } from "./machine.ts";
import { type Options, readOptions, UsageError, usage } from "./options.ts";
import { differences } from "./raw/same-rows.ts";
import { markdown, plainText, type Report, reportOf, type WorkloadReport } from "./report.ts";
import { type Bench, type Figures, fullSizes, quickSizes, type Workload } from "./workload.ts";
import { events } from "./workloads/events.ts";
import { latency } from "./workloads/latency.ts";
import { longWorkflow } from "./workloads/long.ts";
import { resume } from "./workloads/resume.ts";
import { throughput } from "./workloads/throughput.ts";
import { timers } from "./workloads/timers.ts";

const workloads: readonly Workload[] = [throughput, latency, timers, events, longWorkflow, resume];

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const names = workloads.map((workload) => workload.name);
    const options = readOptions(process.argv.slice(2), names);
    if (options.help) process.stdout.write(`${usage}\nworkloads:\n${workloadList()}\n`);
    else await measure(options);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${usage}`);
    return 2;
  }
}

async function measure(options: Options): Promise<void> {
  const folder = makeFolder(options.dir);
  const startedAt = performance.now();
  const rowDifferences = new Set<string>();
  const machine = describeMachine(folder);
  const reports: WorkloadReport[] = [];
  for (const workload of workloads.filter(({ name }) => options.only.includes(name))) {
    reports.push(await repeat(workload, options, folder, rowDifferences));
  }
  const report: Report = {
    machine: { ...machine, loadAfter: currentLoad() },
    quick: options.quick,
    repeat: options.repeat,
    seconds: (performance.now() - startedAt) / 1000,
    rowDifferences: [...rowDifferences],
    workloads: reports,
  };
  if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`\n${options.markdown ? markdown(report) : plainText(report)}\n`);
}

async function repeat(
  workload: Workload,
  options: Options,
  folder: string,
  rowDifferences: Set<string>,
): Promise<WorkloadReport> {
  const sizes = options.quick ? quickSizes : fullSizes;
  const rounds: Figures[] = [];
  for (let round = 1; round <= options.repeat; round++) {
    const files: string[] = [];
    let doing = "starting";
    const bench: Bench = {
      sizes,
      freshFile() {
        const file = join(folder, `${workload.name}-${round}-${files.length}.db`);
        files.push(file);
        return file;
      },
      note(what) {
        doing = `${workload.name}, round ${round} of ${options.repeat}: ${what}`;
        process.stderr.write(`${doing}\n`);
      },
      compareRows(engineFile, rawFile, run) {
        for (const each of differences(engineFile, rawFile, run))
          rowDifferences.add(`${workload.name}: ${each}`);
      },
    };
    rounds.push(await withinTime(workload.measure(bench), options.quick, () => doing));
    for (const file of files) removeDatabase(file);
  }
  return reportOf(workload, sizes, rounds);
}

/** A workflow that is never woken would keep a run waiting for ever; better to say where it was. */
async function withinTime<Result>(
  round: Promise<Result>,
  quick: boolean,
  doing: () => string,
): Promise<Result> {
  const seconds = quick ? 120 : 600;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error(`No end after ${seconds} s (${doing()}).`));
    timer = setTimeout(stop, seconds * 1000);
  });
  try {
    return await Promise.race([round, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Removed again however the run ends. Beside the sources, because a temporary folder may be no disk at all. */
function makeFolder(dir: string | null): string {
  const parent = dir === null ? join(import.meta.dirname, "..", ".everstep") : resolve(dir);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "bench-"));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    if (dir === null) removeIfEmpty(parent);
  };
  process.on("exit", remove);
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const) {
    process.on(signal, () => process.exit(code));
  }
  return folder;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else keeps something there.
  }
}

function removeDatabase(file: string): void {
  for (const ending of ["", "-wal", "-shm", "-owners"]) {
    rmSync(`${file}${ending}`, { recursive: true, force: true });
  }
}

function workloadList(): string {
  return workloads.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join("\n");
}
