/** A Redis server of a test's own, for what must not be done to one that others use: restarting, filling, pausing it. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { RedisClient } from "./driver.ts";
import { openClient } from "./test-support.ts";

/** Undefined where none is installed. */
export const serverProgram: string | undefined = findProgram(["redis-server", "valkey-server"]);
if (serverProgram === undefined)
  console.warn("redis-server is not installed: some of the Redis store is not tested.");

export type ServerSettings = Readonly<Record<string, string>>;

export class TestServer {
  readonly url: string;
  readonly port: number;
  readonly #folder: string;
  readonly #settings: ServerSettings;
  #process: ChildProcessByStdio<null, Readable, null> | undefined;

  static async start(settings: ServerSettings = {}): Promise<TestServer> {
    const server = new TestServer(await freePort(), settings);
    await server.start();
    return server;
  }

  private constructor(port: number, settings: ServerSettings) {
    this.port = port;
    this.url = `redis://127.0.0.1:${port}/0`;
    this.#folder = mkdtempSync(join(tmpdir(), "everstep-redis-"));
    this.#settings = { save: "", appendonly: "yes", appendfsync: "always", ...settings };
  }

  async start(): Promise<void> {
    const fixed = { port: String(this.port), bind: "127.0.0.1", dir: this.#folder, daemonize: "no" };
    const options = Object.entries({ ...fixed, ...this.#settings });
    const words = options.flatMap(([name, value]) => [
      `--${name}`,
      ...(value === "" ? [""] : value.split(" ")),
    ]);
    const child = spawn(serverProgram as string, words, { stdio: ["ignore", "pipe", "ignore"] });
    this.#process = child;
    const heard: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      heard.push(line);
      if (line.includes("eady to accept connections")) {
        // Its pipe must not fill up.
        child.stdout.resume();
        return;
      }
    }
    throw new Error(`The server did not start:\n${heard.join("\n")}`);
  }

  client(): Promise<RedisClient> {
    return openClient(this.url);
  }

  /** Without a chance to save anything. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async stop(): Promise<void> {
    await this.#end("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    await new Promise((resolve) => {
      child.once("exit", resolve);
      child.kill(signal);
    });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
