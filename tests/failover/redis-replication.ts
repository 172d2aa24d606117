/** Replication of Redis, which is always asynchronous, and a promotion by hand. */
import { Redis } from "ioredis";
import { startServer } from "../../scripts/services/server.mjs";
import type { Replication } from "./replication.ts";

const settings = { "repl-diskless-sync-delay": 0 };

export const redisReplication: Replication = {
  primarySettings: settings,

  async startStandby(_primary, linkPort) {
    const standby = await startServer("redis", { settings });
    // Not among its settings: once promoted it must not follow anybody when it is started again.
    await call(standby.url, "REPLICAOF", "127.0.0.1", String(linkPort));
    return standby;
  },

  async hasCaughtUp(primary, standby) {
    const written = /master_repl_offset:(\d+)/.exec(await call(primary.url, "INFO", "replication"))?.[1];
    const told = await call(standby.url, "INFO", "replication");
    const heard = /slave_repl_offset:(\d+)/.exec(told)?.[1];
    return /master_link_status:up/.test(told) && Number(heard) >= Number(written);
  },

  async promote(standby) {
    await call(standby.url, "REPLICAOF", "NO", "ONE");
  },
};

export async function call(url: string, command: string, ...words: string[]): Promise<string> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    return String(await client.call(command, ...words));
  } finally {
    client.disconnect();
  }
}
