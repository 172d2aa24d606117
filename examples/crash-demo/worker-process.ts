/** A worker as the demo sees it from outside: a child process to start, to kill and to watch. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("worker.ts", import.meta.url));

export class WorkerProcess {
  readonly pid: number;
  readonly startedAt = Date.now();
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  #isGone = false;
  #complaints = "";

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [...process.execArgv, program, ...args], {
      env: { ...process.env, ...env },
      // What it says must not run into the screen; it is shown if the worker fails.
      stdio: ["pipe", "ignore", "pipe"],
    });
    this.pid = this.#child.pid ?? 0;
    this.#child.stderr?.on("data", (text) => {
      this.#complaints += text;
    });
    this.gone = new Promise((resolve) => {
      const end = (): void => {
        this.#isGone = true;
        resolve();
      };
      this.#child.once("close", end);
      this.#child.once("error", (error) => {
        this.#complaints += error.message;
        end();
      });
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** The signal that ended it; null while it lives or when it failed. One that is asked to stop ends with code 0. */
  get killedBy(): string | null {
    return this.#child.signalCode ?? (this.#child.exitCode === 0 ? "SIGTERM" : null);
  }

  /** What it wrote to its standard error. */
  get complaints(): string {
    return this.#complaints.trim();
  }

  /** As `kill -9`: the process gets no chance to do anything. */
  kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    return this.gone;
  }

  /** Politely; by force if that takes too long. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const force = setTimeout(() => this.#child.kill("SIGKILL"), 2000);
    await this.gone;
    clearTimeout(force);
  }
}
