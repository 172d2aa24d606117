/** The process that serves, as the bench sees it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Ground, Place } from "../grounds/ground.ts";
import type { ServerMessage } from "./server-messages.ts";

export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  static async start(
    ground: Ground,
    place: Place,
    program: "server-program.ts" | "streams-program.ts" = "server-program.ts",
  ): Promise<ServerProcess> {
    const child = fork(join(import.meta.dirname, program), [ground.name, place.key], {
      execArgv: process.execArgv,
    });
    const { url } = await heard(child, "ready");
    return new ServerProcess(url, child);
  }

  usage(): Promise<Extract<ServerMessage, { kind: "usage" }>> {
    const answer = heard(this.#child, "usage");
    this.#child.send("usage");
    return answer;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const force = setTimeout(() => this.#child.kill("SIGKILL"), 40_000);
    await ended;
    clearTimeout(force);
  }
}

function heard<Kind extends ServerMessage["kind"]>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<ServerMessage, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void =>
      reject(new Error(`The process that serves ended (${code}).`));
    child.once("exit", onExit);
    const onMessage = (message: ServerMessage): void => {
      if (message.kind !== kind) return;
      child.off("message", onMessage).off("exit", onExit);
      resolve(message as Extract<ServerMessage, { kind: Kind }>);
    };
    child.on("message", onMessage);
  });
}
