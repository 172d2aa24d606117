import type { Liveness } from "./liveness.ts";
import type { Explanation, Violation } from "./violation.ts";

/** What an audit came to. Everything in it names the run it is about. */
export interface VerifyReport {
  /** No violation, and everything could be read. */
  readonly ok: boolean;
  /** Runs that were judged. */
  readonly checked: number;
  /** What can never be, whatever crashed or raced: the store or the engine is broken, or somebody wrote behind them. */
  readonly violations: readonly Violation[];
  /** What may be, but deserves a look: nobody works on a run, or it keeps killing whoever does. */
  readonly warnings: readonly VerifyWarning[];
  /** Warnings beyond those that are listed. */
  readonly warningsLeftOut: number;
  /** Runs that changed every time they were looked at. */
  readonly moving: number;
  /** Rows that cannot be read at all. */
  readonly unreadable: readonly Unreadable[];
  /** Where the next call goes on. */
  readonly after?: string;
  /** Nothing is left to go through. */
  readonly complete: boolean;
  /** All of it in one line. */
  readonly summary: string;
}

export interface RunName {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly runNumber: number;
}

export interface VerifyWarning extends RunName {
  readonly kind: Liveness | "doubtful";
  /** The promise it is about: "LIV-1", "INV-31". */
  readonly promise: string;
  readonly message: string;
  /** Of a doubtful one: what would explain it. */
  readonly unless?: Explanation;
}

/** `null` where what cannot be read is the row that would say whose it is. */
export interface Unreadable {
  readonly workflowName: string | null;
  readonly instanceId: string | null;
  readonly runNumber: number | null;
  readonly message: string;
}

export interface VerifyProgress {
  /** Instances gone through so far. */
  readonly instances: number;
  readonly checked: number;
  readonly violations: number;
}

export function summaryOf(report: Omit<VerifyReport, "summary">): string {
  const { checked, violations, warnings, warningsLeftOut, moving, unreadable, complete } = report;
  const parts = [
    violations.length === 0 ? "no violation" : counted(violations.length, "violation"),
    ...(violations.length === 0 ? [] : [tally(violations.map(({ invariant }) => invariant))]),
  ];
  const warned = warnings.length + warningsLeftOut;
  const others = [
    ...(warned === 0 ? [] : [`${counted(warned, "warning")} ${tally(warnings.map(({ kind }) => kind))}`]),
    ...(unreadable.length === 0 ? [] : [`${unreadable.length} unreadable`]),
    ...(moving === 0 ? [] : [`${moving} never held still`]),
  ];
  const found = [parts.join(" "), ...others].join(", ");
  return `Checked ${counted(checked, "run")}: ${found}. ${complete ? "All were looked at." : "There is more."}`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** "(2 overdue, 1 stranded)" */
function tally(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return `(${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")})`;
}
