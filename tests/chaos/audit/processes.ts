/** No process ended by itself, and whatever went wrong was understood as something that passes. */
import type { Evidence } from "../evidence.ts";

export function auditProcesses({ ledger, processes }: Evidence): string[] {
  const problems = ledger.filter((line) => line.kind === "problem");
  return [
    ...processes.filter(({ fate }) => fate === "fell").map(({ lastWords }) => lastWords),
    ...problems
      .filter(({ retryable, code }) => !retryable && !expected.includes(code))
      .map(({ pid, code, message }) => `${pid} was told ${code}: ${message}`),
  ];
}

/** A server for tests does not wait for its disk, and runners say so when they start. */
const expected: readonly string[] = ["STORE_UNSAFE"];
