/** A Redis server of the test's own, for settings that nobody else should have to live with. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";

const program = ["redis-server", "valkey-server"].find((each) => spawnSync(each, ["--version"]).status === 0);

/** False where there is no program to start. */
export const canStartRedis: boolean = program !== undefined;

export interface OwnRedis {
  readonly url: string;
  readonly client: Redis;
  stop(): Promise<void>;
}

export async function startRedis(settings: readonly string[]): Promise<OwnRedis> {
  const folder = mkdtempSync(join(tmpdir(), "everstep-redis-"));
  const port = await freePort();
  const where = [
    "--port",
    String(port),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const server = spawn(program as string, [...where, ...settings], { stdio: "ignore" });
  const url = `redis://127.0.0.1:${port}/0`;
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on("error", () => {});
  await client.ping();
  return {
    url,
    client,
    async stop() {
      client.disconnect();
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  server.kill("SIGKILL");
  await once(server, "exit");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
