import { redis } from "everstep/redis";
import type { Store } from "everstep/store";
import { Redis } from "ioredis";
import { openRedisRaw } from "../raw/redis-raw.ts";
import type { Ground, Meter, Place } from "./ground.ts";
import { namespaces, serverUrl } from "./namespaces.ts";

export function openRedis(namespace: string): Store {
  return redis({ url: serverUrl("EVERSTEP_REDIS_URL"), namespace });
}

export async function redisGround(): Promise<Ground> {
  const url = serverUrl("EVERSTEP_REDIS_URL");
  const client = new Redis(url);
  const names = namespaces();
  const remove = async (namespace: string): Promise<void> => {
    for await (const keys of client.scanStream({ match: `{${namespace}}*`, count: 1000 }))
      if (keys.length > 0) await client.unlink(...keys);
    names.gone(namespace);
  };

  const place = (namespace: string): Place => ({
    key: namespace,
    open: () => openRedis(namespace),
    openRaw: (connections = 1) => openRedisRaw(url, namespace, connections),
    readRows: null,
    settle: async () => {},
    remove: () => remove(namespace),
  });

  return {
    name: "redis",
    title: "Redis",
    about: await describe(client),
    meter: meter(client),
    hasConnections: true,
    hint: (times) => hints(url, times),
    freshPlace: () => place(names.take()),
    async freshRoom() {
      const namespace = names.take();
      return { url, prefix: `{${namespace}}`, remove: () => remove(namespace) };
    },
    async close() {
      for (const namespace of names.left) await remove(namespace);
      client.disconnect();
    },
  };
}

async function describe(client: Redis): Promise<string> {
  const version = field(await client.info("server"), "redis_version");
  const settings = (await client.config("GET", "append*")) as string[];
  const setting = (name: string): string => settings[settings.indexOf(name) + 1] ?? "unknown";
  return `Redis ${version}, appendonly ${setting("appendonly")}, appendfsync ${setting("appendfsync")}`;
}

/** Commands inside a script count as commands too, so the scripts are counted apart. */
function meter(client: Redis): Meter {
  return {
    counts: [
      { name: "scripts", what: "scripts run for clients (EVALSHA, EVAL, FCALL)" },
      { name: "commands", what: "commands, those inside scripts included" },
      { name: "bytes", what: "bytes of the append-only file" },
    ],
    async read() {
      const stats = await client.info("commandstats");
      const calls = (name: string): number =>
        Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
      return {
        scripts: calls("evalsha") + calls("eval") + calls("fcall"),
        commands: Number(field(await client.info("stats"), "total_commands_processed")),
        bytes: Number(field(await client.info("persistence"), "aof_current_size")),
      };
    },
  };
}

function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*)\\r?$`, "m").exec(info)?.[1]?.trim() ?? "unknown";
}

async function hints(url: string, times: number): Promise<readonly number[]> {
  const speaker = new Redis(url);
  const listener = new Redis(url);
  await listener.subscribe("everstep_bench");
  const taken: number[] = [];
  for (let n = 0; n < times; n++) {
    const start = performance.now();
    const heard = new Promise((resolve) => listener.once("message", resolve));
    await speaker.publish("everstep_bench", "");
    await heard;
    taken.push(performance.now() - start);
  }
  for (const client of [speaker, listener]) client.disconnect();
  return taken;
}
