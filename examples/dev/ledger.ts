/** A file that bodies write to, so that what they did is known whatever became of their process. */
import { appendFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StepContext } from "everstep";

export interface Summary {
  readonly completedTwice: readonly string[];
  readonly processes: readonly string[];
  /** What each step's body did, in order. */
  readonly steps: Readonly<Record<string, readonly string[]>>;
}

export function ledgerOf(instanceId: string) {
  const file = join(tmpdir(), `everstep-crash-demo-${instanceId.replace(/\W/g, "-")}.txt`);
  return {
    note(what: "began" | "did", { idempotencyKey, step }: StepContext): void {
      appendFileSync(file, `${runOf(idempotencyKey)}\t${step.name}\t${what}\t${process.pid}\n`);
    },

    summary({ idempotencyKey }: StepContext): Summary {
      const entries = readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split("\t"))
        .filter(([run]) => run === runOf(idempotencyKey))
        .map(([, step = "", what = "", pid = ""]) => ({ step, what, pid }));
      const names = [...new Set(entries.map(({ step }) => step))];
      const of = (name: string) => entries.filter(({ step }) => step === name);
      return {
        completedTwice: names.filter((name) => of(name).filter(({ what }) => what === "did").length > 1),
        processes: [...new Set(entries.map(({ pid }) => pid))],
        steps: Object.fromEntries(
          names.map((name) => [name, of(name).map(({ what, pid }) => `${what} in ${pid}`)]),
        ),
      };
    },
  };
}

/** "crash-demo/a/1/pick" -> "crash-demo/a/1": a restarted instance is a new run. */
function runOf(idempotencyKey: string): string {
  return idempotencyKey.split("/").slice(0, -1).join("/");
}
