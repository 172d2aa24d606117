/**
 * The effects file: what bodies really did, written by themselves and not by the engine. Compared with the history in
 * the store it proves that no completed step ran twice.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { InstanceView, StepType, StepView } from "everstep";

export interface LedgerLine {
  /** A body began, had its effect, or gave up with an error. One that was cut off has only begun. */
  readonly kind: "started" | "effect" | "failed";
  readonly step: string;
  readonly pid: number;
  readonly at: number;
  readonly text: string;
}

export interface Proof {
  /** Completed steps by their kind; only bodies have effects. */
  readonly completed: Readonly<Record<StepType, number>>;
  /** Completed steps with an effect in the ledger. */
  readonly effects: number;
  /** Bodies that a kill cut off, so that they ran again. */
  readonly cutOff: number;
  /** Of those, the ones that had had their effect already: the kill fell between effect and record. */
  readonly repeated: number;
  /** What contradicts the promise; nothing, if all is well. */
  readonly faults: readonly string[];
}

/** Workers find the file through their environment. */
export const ledgerVariable = "EVERSTEP_DEMO_LEDGER";

export function ledgerFile(): string {
  const file = process.env[ledgerVariable];
  if (!file) throw new Error(`${ledgerVariable} must name the effects file.`);
  return file;
}

export function write(file: string, line: LedgerLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

export function readLedger(file: string): LedgerLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as LedgerLine);
}

export function prove(
  ledger: readonly LedgerLine[],
  { instance, steps }: { readonly instance: InstanceView; readonly steps: readonly StepView[] },
): Proof {
  const completed = steps.filter((step) => step.status === "completed");
  const count = (type: StepType): number => completed.filter((step) => step.type === type).length;
  const accounts = completed.filter((step) => step.type === "do").map((step) => accountOf(step, ledger));
  const names = new Set(completed.map((step) => step.name));
  const strangers = new Set(ledger.map((line) => line.step).filter((name) => !names.has(name)));
  const isComplete = instance.status === "complete";
  return {
    completed: { do: count("do"), sleep: count("sleep"), waitForEvent: count("waitForEvent") },
    effects: accounts.filter((account) => account.effects > 0).length,
    cutOff: sum(accounts.map((account) => account.cutOff)),
    repeated: sum(accounts.map((account) => Math.max(0, account.effects - 1))),
    faults: [
      ...(isComplete
        ? []
        : [`the order is ${instance.status}: ${instance.error?.message ?? "no reason given"}`]),
      ...accounts.flatMap((account) => account.faults),
      ...[...strangers].map((name) => `"${name}" ran but is not recorded as completed`),
    ],
  };
}

/** One step's history beside what its bodies wrote. */
function accountOf(step: StepView, ledger: readonly LedgerLine[]) {
  const lines = ledger.filter((line) => line.step === step.name);
  const [started, effects, failed] = (["started", "effect", "failed"] as const).map((kind) =>
    lines.filter((line) => line.kind === kind),
  ) as [LedgerLine[], LedgerLine[], LedgerLine[]];
  const cutOff = started.length - failed.length - 1;
  const settledAt = step.settledAt?.getTime() ?? Number.POSITIVE_INFINITY;

  const faults: string[] = [];
  if (started.some((line) => line.at > settledAt))
    faults.push(`"${step.name}" ran again after it had completed`);
  if (effects.length === 0) faults.push(`"${step.name}" has no effect in the ledger`);
  if (effects.length > 1 + cutOff) faults.push(`"${step.name}" has ${effects.length} effects in the ledger`);
  if (failed.length !== step.errors.length) {
    faults.push(`"${step.name}" failed ${failed.length} times, its history says ${step.errors.length}`);
  }
  return { effects: effects.length, cutOff, faults };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
