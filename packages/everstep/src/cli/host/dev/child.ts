/** A child of `everstep dev` as its supervisor sees it. */
import { type ChildProcess, spawn } from "node:child_process";
import { childVariable, type Order, type Report } from "./messages.ts";

/**
 * loading -> loaded -> starting -> serving -> stopping -> gone; it may be gone after any of them.
 */
export type ChildState = "loading" | "loaded" | "starting" | "serving" | "stopping" | "gone";

export interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildListener {
  onReport(child: Child, report: Report): void;
  onGone(child: Child, ending: Ending): void;
}

export interface Child {
  state: ChildState;
  readonly pid: number | undefined;
  /** When it began to read files. */
  readonly startedAt: number;
  order(order: Order): void;
  kill(): void;
}

export interface ChildSettings {
  /** What the program is called with, the command first. */
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly startedAt: number;
}

/** Node says of what it runs here that it is experimental; that is our decision, not the user's. */
const quietNode = ["--disable-warning=ExperimentalWarning", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];

export function spawnChild({ words, cwd, env, startedAt }: ChildSettings, listener: ChildListener): Child {
  const program = process.argv[1] ?? "";
  const process_ = spawn(process.execPath, [...process.execArgv, ...quietNode, program, ...words], {
    cwd,
    env: { ...env, [childVariable]: "1" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const child = new SpawnedChild(process_, startedAt);
  process_.on("message", (report: Report) => listener.onReport(child, report));
  const gone = (ending: Ending): void => {
    if (child.state === "gone") return;
    listener.onGone(child, ending);
    child.state = "gone";
  };
  process_.once("exit", (exitCode, signal) => gone({ exitCode, signal }));
  process_.once("error", () => gone({ exitCode: process_.exitCode, signal: process_.signalCode }));
  return child;
}

class SpawnedChild implements Child {
  state: ChildState = "loading";
  readonly startedAt: number;
  readonly #process: ChildProcess;

  constructor(process: ChildProcess, startedAt: number) {
    this.#process = process;
    this.startedAt = startedAt;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  order(order: Order): void {
    // It may just have died; then that is told by itself.
    if (this.#process.connected) this.#process.send(order, () => {});
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}
