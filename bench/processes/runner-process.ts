/** A runner process as the bench sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Ground, Place } from "../grounds/ground.ts";
import type { Message, Request } from "./messages.ts";

export type Memory = Extract<Message, { kind: "memory" }>;
export type Body = Extract<Message, { kind: "body" }>;

export class RunnerProcess {
  readonly #child: ChildProcess;
  #waiting: { readonly kind: Message["kind"]; settle(message: Message): void } | null = null;
  #onBody: (body: Body) => void = () => {};

  private constructor(ground: Ground, place: Place) {
    const program = join(import.meta.dirname, "runner-program.ts");
    this.#child = fork(program, [ground.name, place.key], {
      execArgv: [...process.execArgv, "--expose-gc"],
    });
    this.#child.on("message", (message: Message) => this.#hear(message));
    this.#child.once("exit", (code, signal) =>
      this.#hear({ kind: "failed", reason: `it ended with ${signal ?? `exit code ${code}`}` }),
    );
  }

  /** Resolves when it looks for work. */
  static async start(ground: Ground, place: Place): Promise<RunnerProcess> {
    const runner = new RunnerProcess(ground, place);
    await runner.#until("ready");
    return runner;
  }

  /** Told of every body of the workflow `nudged` in that process. */
  onBody(listener: (body: Body) => void): void {
    this.#onBody = listener;
  }

  async memory(): Promise<Memory> {
    const told = this.#until("memory");
    this.#child.send({ kind: "memory" } satisfies Request);
    return (await told) as Memory;
  }

  async run(request: Extract<Request, { kind: "run" }>): Promise<void> {
    const ran = this.#until("ran");
    this.#child.send(request);
    await ran;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const force = setTimeout(() => this.#child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(force);
  }

  #until(kind: Message["kind"]): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#waiting = {
        kind,
        settle: (message) =>
          message.kind === "failed"
            ? reject(new Error(`A runner process failed: ${message.reason}.`))
            : resolve(message),
      };
    });
  }

  #hear(message: Message): void {
    if (message.kind === "body") return this.#onBody(message);
    if (message.kind !== "failed" && message.kind !== this.#waiting?.kind) return;
    this.#waiting?.settle(message);
    this.#waiting = null;
  }
}

/** Ends them all, whatever happens. */
export async function withRunners<Result>(
  count: number,
  ground: Ground,
  place: Place,
  act: (runners: readonly RunnerProcess[]) => Promise<Result>,
): Promise<Result> {
  const starting = Array.from({ length: count }, () => RunnerProcess.start(ground, place));
  const started = await Promise.allSettled(starting);
  const runners = started.filter((each) => each.status === "fulfilled").map((each) => each.value);
  try {
    await Promise.all(starting);
    return await act(runners);
  } finally {
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}
