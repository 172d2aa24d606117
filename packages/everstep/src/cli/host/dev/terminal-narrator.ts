/** What the supervisor has to say, in the terminal. */
import { relative } from "node:path";
import type { Output } from "../../output/output.ts";
import { painted } from "../../output/paint.ts";
import { spokenDuration } from "../../output/time.ts";
import { type LoadProblem, problemLines } from "../user-file/load-problem.ts";
import type { Ending } from "./child.ts";
import type { Narrator, WhatNow } from "./supervisor.ts";

const next: Readonly<Record<WhatNow, string | null>> = {
  "old-serves": "The code that was loaded before goes on. Save the file again when it is repaired.",
  waits: "Waiting for a change.",
  over: null,
};

const namedMax = 3;

export class TerminalNarrator implements Narrator {
  readonly #out: Output;
  readonly #err: Output;
  readonly #cwd: string;

  constructor(out: Output, err: Output, cwd: string) {
    this.#out = out;
    this.#err = err;
    this.#cwd = cwd;
  }

  changed(files: readonly string[]): void {
    const names = files.slice(0, namedMax).map((file) => relative(this.#cwd, file));
    const others = files.length > namedMax ? ` and ${files.length - namedMax} more` : "";
    this.#out.line(painted("cyan", `${names.join(", ")}${others} changed.`));
  }

  notLoaded(problem: LoadProblem, whatNow: WhatNow): void {
    const [first = "", ...rest] = problemLines(problem, this.#cwd);
    this.#err.line(painted("red", first));
    for (const line of rest) this.#err.line(line);
    this.#whatNow(whatNow);
  }

  endedWhileLoading(ending: Ending, whatNow: WhatNow): void {
    this.#err.line(painted("red", `The file ended its process while it was loaded (${inShort(ending)}).`));
    this.#whatNow(whatNow);
  }

  refused(message: string, hint: string | undefined): void {
    this.#err.line(painted("red", message));
    if (hint !== undefined) this.#err.line(hint);
  }

  died(ending: Ending, delayMs: number): void {
    const then = delayMs === 0 ? "Starting it again." : `Starting it again in ${spokenDuration(delayMs)}.`;
    this.#err.line(painted("yellow", `The process died (${inShort(ending)}). ${then}`));
  }

  loadsSlowly(): void {
    const why = "it waits for something at its top level, or imports a lot";
    this.#err.line(painted("yellow", `The file has not been loaded after 10 s: ${why}.`));
  }

  hangs(): void {
    this.#err.line(painted("yellow", "The process does not end by itself, and is killed."));
  }

  #whatNow(whatNow: WhatNow): void {
    const sentence = next[whatNow];
    if (sentence !== null) this.#err.line(painted("dim", sentence));
  }
}

function inShort({ exitCode, signal }: Ending): string {
  if (signal === "SIGABRT") return "SIGABRT, as when memory runs out";
  return signal ?? `exit code ${exitCode}`;
}
