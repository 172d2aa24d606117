/** A runner process as the test sees it, and what becomes of it. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunnerMessage, RunnerTask } from "./runner-process.ts";
import { monotonic } from "./time.ts";

/** When it could not run, because it was told so. */
export interface Freeze {
  readonly from: number;
  /** Infinity while it lasts. */
  to: number;
}

export type Fate = "runs" | "killed" | "left" | "fell";

let started = 0;
/** More than the grace that bodies are given and the patience with a store that does not answer. */
const leaveMs = 20_000;

export class RunnerHandle {
  readonly freezes: Freeze[] = [];
  /** Resolves once it runs instances, or never will. */
  readonly ready: Promise<unknown>;
  readonly exited: Promise<unknown>;
  #fate: Fate = "runs";
  /** One that is not cannot follow when it is asked to stop; it ends all the same. */
  #isAwake = false;
  #asked: "nothing" | "killed" | "left" = "nothing";
  #endedAt = Number.POSITIVE_INFINITY;
  #ending = "";
  readonly #process: ChildProcess;
  readonly #logFile: string;

  constructor(task: RunnerTask) {
    this.#logFile = join(task.folder, `runner-${process.pid}-${started++}.log`);
    const log = openSync(this.#logFile, "a");
    this.#process = fork(join(import.meta.dirname, "runner-process.ts"), [JSON.stringify(task)], {
      execArgv: ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", log, log, "ipc"],
    });
    closeSync(log);
    this.exited = once(this.#process, "exit").then(([code, signal]) => this.#gone(code, signal));
    const hasStarted = new Promise<void>((resolve) => {
      this.#process.on("message", (message: RunnerMessage) => {
        this.#isAwake = true;
        if (message === "started") resolve();
      });
    });
    this.ready = Promise.race([hasStarted, this.exited]);
  }

  get pid(): number {
    return this.#process.pid ?? -1;
  }

  get fate(): Fate {
    return this.#fate;
  }

  get isFrozen(): boolean {
    return this.freezes.some(({ to }) => to > monotonic());
  }

  /** By the shared clock; Infinity while it runs. */
  get endedAt(): number {
    return this.#endedAt;
  }

  /** How it ended, in words, with what it printed. */
  get lastWords(): string {
    return `process ${this.pid} ended with ${this.#ending}: ${readFileSync(this.#logFile, "utf8").slice(-2000)}`;
  }

  kill(): void {
    this.#asked = "killed";
    this.#process.kill("SIGKILL");
    this.#endedAt = Math.min(this.#endedAt, monotonic());
  }

  /** Asks it to stop in order. One that does not in good time is killed; that is no way to leave. */
  async leave(): Promise<void> {
    if (this.#asked === "nothing") this.#asked = "left";
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => {
      this.#ending = `not stopping within ${leaveMs} ms`;
      this.#process.kill("SIGKILL");
    }, leaveMs);
    await this.exited;
    clearTimeout(timer);
  }

  /** It does not get to run for a while. A shell sees to its waking up, so that it does even if we are gone by then. */
  async freeze(ms: number): Promise<void> {
    const freeze: Freeze = { from: monotonic(), to: Number.POSITIVE_INFINITY };
    this.freezes.push(freeze);
    const commands = `kill -STOP ${this.pid}; sleep ${ms / 1000}; kill -CONT ${this.pid}`;
    await once(spawn("sh", ["-c", commands], { stdio: "ignore" }), "exit");
    freeze.to = monotonic();
  }

  #gone(code: number | null, signal: string | null): void {
    this.#endedAt = Math.min(this.#endedAt, monotonic());
    this.#ending ||= signal ?? `code ${code}`;
    if (this.#asked === "killed") this.#fate = "killed";
    else this.#fate = this.#asked === "left" && (code === 0 || !this.#isAwake) ? "left" : "fell";
  }
}
