/** Where the figures come from: they mean little without it. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { median } from "./stats.ts";

export interface Machine {
  readonly node: string;
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  /** Median of appending 4 KiB and making them durable. */
  readonly fsyncMs: number;
  /** Runnable processes on average over the last minute, this one included. */
  readonly loadBefore: number;
}

export function describeMachine(folder: string): Machine {
  return {
    node: process.version,
    system: `${type()} ${release()}`,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    fsyncMs: measureFsync(folder),
    loadBefore: currentLoad(),
  };
}

export function currentLoad(): number {
  return loadavg()[0] ?? Number.NaN;
}

function measureFsync(folder: string): number {
  const file = join(folder, "fsync");
  const block = Buffer.alloc(4096, 1);
  const descriptor = openSync(file, "w");
  const samples: number[] = [];
  for (let n = 0; n < 200; n++) {
    const start = performance.now();
    writeSync(descriptor, block, 0, block.length, n * block.length);
    fdatasyncSync(descriptor);
    samples.push(performance.now() - start);
  }
  closeSync(descriptor);
  rmSync(file);
  return median(samples);
}
