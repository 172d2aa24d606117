/** Real processes for tests; see actor.ts for what they can do. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Answer, Order } from "./actor.ts";

export class Actor {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.#exited = once(process, "exit").then(() => {});
  }

  static async start(): Promise<Actor> {
    const process = fork(join(import.meta.dirname, "actor.ts"), {
      execArgv: ["--conditions=everstep-source", "--disable-warning=ExperimentalWarning"],
    });
    const actor = new Actor(process);
    await once(process, "message");
    return actor;
  }

  get isAlive(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Undefined when it died before it could answer. */
  async tell(order: Order): Promise<Answer | undefined> {
    const answer = once(this.#process, "message").then(([message]) => message as Answer);
    this.#process.send(order);
    return Promise.race([answer, this.#exited.then(() => undefined)]);
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#exited;
  }
}
