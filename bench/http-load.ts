/** Loads the HTTP API of an app in another process with many clients at once, and says how long they waited. */
import { makeFolder } from "./folder.ts";
import { MissingServer } from "./grounds/namespaces.ts";
import { openGround } from "./grounds/open-ground.ts";
import { connect, kinds, type LoadResult, load } from "./http-load/load.ts";
import { type LoadOptions, readLoadOptions, usage } from "./http-load/load-options.ts";
import { ServerProcess } from "./http-load/server-process.ts";
import { currentLoad, describeMachine } from "./machine.ts";
import { UsageError } from "./options.ts";
import { progressOn } from "./progress.ts";
import { percentile } from "./stats.ts";

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = readLoadOptions(process.argv.slice(2));
    if (!options.help) return await measure(options);
    process.stdout.write(usage);
    return 0;
  } catch (error) {
    if (error instanceof MissingServer) process.stderr.write(`${error.message}\n`);
    else if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${usage}`);
    else throw error;
    return 2;
  }
}

/** 1 when anything failed or was lost. */
async function measure({ store, clients, seconds, dir }: LoadOptions): Promise<number> {
  const folder = makeFolder(dir);
  const ground = await openGround(store, folder);
  const progress = progressOn(process.stderr);
  const machine = describeMachine(folder);
  try {
    const server = await ServerProcess.start(ground, ground.freshPlace());
    try {
      progress.note(`${clients} clients on ${ground.title}, seconds`);
      const before = await server.usage();
      const result = await load(server.url, clients, seconds, (done) =>
        progress.count(Math.round(done), seconds),
      );
      const after = await server.usage();
      const counts = await connect(server.url).counts();
      const kept = Object.values(counts).reduce((sum, count) => sum + count, 0);
      const lines = [
        `${clients} clients for ${result.seconds.toFixed(1)} s: ${ground.about}`,
        `Node ${machine.node}, ${machine.cores} x ${machine.processor}, fsync ${machine.fsyncMs.toFixed(2)} ms, ` +
          `load ${machine.loadBefore.toFixed(1)} before and ${currentLoad().toFixed(1)} after; clients and server share it`,
        "",
        ...table(result),
        "",
        `server: ${microseconds(after.cpuUs - before.cpuUs, result)} us of processor time per request, ` +
          `${after.memoryMiB.toFixed(0)} MiB`,
        `instances: ${result.samples.create.length} created, ${kept} in the store (${JSON.stringify(counts)})`,
        `errors: ${errorsOf(result)}`,
      ];
      process.stdout.write(`\n${lines.join("\n")}\n`);
      return result.errors.size === 0 && kept === result.samples.create.length ? 0 : 1;
    } finally {
      await server.stop();
    }
  } finally {
    await ground.close();
  }
}

function table({ samples, seconds }: LoadResult): string[] {
  const all = kinds.flatMap((kind) => samples[kind]);
  const rows = [...kinds.map((kind) => [kind, samples[kind]] as const), ["all", all] as const];
  return [
    "request     per s     p50 ms    p99 ms    max ms",
    ...rows.map(([name, times]) => {
      const figures = [percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1)];
      const cells = [(times.length / seconds).toFixed(0), ...figures.map((ms) => ms.toFixed(1))];
      return name.padEnd(8) + cells.map((cell) => cell.padStart(10)).join("");
    }),
  ];
}

function microseconds(cpuUs: number, { samples }: LoadResult): string {
  return (cpuUs / kinds.reduce((sum, kind) => sum + samples[kind].length, 0)).toFixed(0);
}

function errorsOf({ errors }: LoadResult): string {
  if (errors.size === 0) return "none";
  return [...errors].map(([name, count]) => `${count} x ${name}`).join(", ");
}
