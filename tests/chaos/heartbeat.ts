/**
 * Whether a process gets to run at all: its event loop beats, and leaves behind when it did so last. Where it did not for
 * a while, the process was stopped, others had the processor, or a call kept it from going on.
 */
import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Ledger } from "./ledger.ts";
import { monotonic } from "./time.ts";

/** Longer than this without a beat is a gap. */
const gapMs = 50;
const beatMs = 10;
/** As wide as any time: each beat is written over the one before. */
const timeWidth = 24;

export function startHeartbeat(folder: string, ledger: Ledger): void {
  const file = openSync(join(folder, `beat-${process.pid}`), "w");
  let last = monotonic();
  const beat = (): void => {
    const at = monotonic();
    if (at - last > gapMs) ledger.write({ kind: "gap", pid: process.pid, from: last, to: at });
    last = at;
    writeSync(file, String(at).padEnd(timeWidth), 0);
  };
  beat();
  setInterval(beat, beatMs);
}

/** When each process beat for the last time. */
export function readLastBeats(folder: string): Map<number, number> {
  const names = readdirSync(folder).filter((name) => name.startsWith("beat-"));
  return new Map(
    names.map((name) => [
      Number(name.slice("beat-".length)),
      Number(readFileSync(join(folder, name), "utf8")),
    ]),
  );
}
