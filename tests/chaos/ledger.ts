/**
 * What bodies did, written down outside the store so that no crash can take it back. Every process has its own file and
 * appends whole lines with single writes: a line that was written survives the kill of the process in the next moment.
 * Times are of the clock that all processes of the machine share.
 */
import { randomUUID } from "node:crypto";
import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

export type LedgerLine = BeginLine | EndLine | GapLine | ProblemLine;

/** A body began. Its token is its own: no other start of any body has it. */
export interface BeginLine {
  readonly kind: "begin";
  readonly pid: number;
  readonly at: number;
  /** workflow/instance/run/step key */
  readonly body: string;
  /** The number of this start, those cut off included. */
  readonly start: number;
  readonly token: string;
  /** The tokens of what was recorded before it, as this passage of the workflow saw them. */
  readonly seen: readonly string[];
}

export interface EndLine {
  readonly kind: "end";
  readonly pid: number;
  readonly at: number;
  readonly token: string;
  /** `aborted`: it was told that what it does no longer counts. */
  readonly how: "done" | "failed" | "aborted";
}

/** The process did not get to run: it was stopped, or others had the processor. */
export interface GapLine {
  readonly kind: "gap";
  readonly pid: number;
  readonly from: number;
  readonly to: number;
}

/** What the app told its host. */
export interface ProblemLine {
  readonly kind: "problem";
  readonly pid: number;
  readonly at: number;
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

export interface Ledger {
  write(line: LedgerLine): void;
}

export function openLedger(folder: string): Ledger {
  const file = openSync(join(folder, `ledger-${process.pid}-${randomUUID()}.jsonl`), "a");
  return { write: (line) => void writeSync(file, `${JSON.stringify(line)}\n`) };
}

/** For a process that only asks and never runs a body. */
export const noLedger: Ledger = {
  write() {
    throw new Error("A body ran in a process that runs none.");
  },
};

/** All lines of all processes, in the order of time. */
export function readLedger(folder: string): LedgerLine[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("ledger-"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LedgerLine)
    .sort((a, b) => timeOf(a) - timeOf(b));
}

function timeOf(line: LedgerLine): number {
  return line.kind === "gap" ? line.from : line.at;
}
