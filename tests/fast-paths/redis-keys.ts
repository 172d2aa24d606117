/** Everything that a Redis store has written, with names in place of the numbers of runs, which two stores may give differently. */
import type { RedisClient } from "../../packages/everstep/src/stores/redis/driver.ts";
import { keysOf } from "../../packages/everstep/src/stores/redis/test-support.ts";

/** Numbers of runs begin here, so that nothing else looks like one. */
export const firstRun = "7777700000";

export type Content = Readonly<Record<string, unknown>>;

/** By key. */
export async function readContent(client: RedisClient, namespace: string): Promise<Content> {
  const prefix = `{${namespace}}:`;
  const found = new Map<string, unknown>();
  for (const key of await keysOf(client, namespace)) {
    const name = key.slice(prefix.length);
    if (name !== "meta") found.set(name, await read(client, key, name));
  }
  const names = namesOf(found);
  const named = (text: string): string =>
    text.replaceAll(/0{6}(777\d{7})|(?<!\d)(777\d{7})(?!\d)/g, (_all, wide, plain) => {
      return names.get(wide ?? plain) ?? "one that is gone";
    });
  const content = [...found].map(([name, value]): [string, unknown] => {
    const lines = Array.isArray(value) ? value.map(named) : named(String(value));
    // Log lines keep their order.
    return [named(name), Array.isArray(lines) && !name.startsWith("logs:") ? lines.sort() : lines];
  });
  return Object.fromEntries(content.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function read(client: RedisClient, key: string, name: string): Promise<unknown> {
  switch (await client.call("TYPE", [key])) {
    case "hash":
      return readHash(client, key, name);
    case "zset":
      return pairs((await client.call("ZRANGE", [key, "0", "-1", "WITHSCORES"])) as string[]);
    case "set":
      return client.call("SMEMBERS", [key]);
    case "list":
      return client.call("LRANGE", [key, "0", "-1"]);
    default:
      return client.call("GET", [key]);
  }
}

async function readHash(client: RedisClient, key: string, name: string): Promise<readonly string[]> {
  const isPacked = /^(waits|event-states):/.test(name);
  const flat = (isPacked
    ? await client.call("EVAL", [unpacked, "1", key])
    : await client.call("HGETALL", [key])) as unknown as string[];
  // A count of a run that is not there is 0.
  return name.startsWith("run:") ? pairs(flat).filter((pair) => !pair.endsWith("=0")) : pairs(flat);
}

const unpacked = `
local flat = redis.call('HGETALL', KEYS[1])
for n = 2, #flat, 2 do
  local values = { cmsgpack.unpack(flat[n]) }
  for place = 1, 7 do if values[place] == nil then values[place] = false end end
  flat[n] = cjson.encode(values)
end
return flat
`;

function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((name, n) => (n % 2 === 0 ? [`${name}=${flat[n + 1]}`] : []));
}

/** By run: the instance and the number of the run. */
function namesOf(found: ReadonlyMap<string, unknown>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [key, value] of found) {
    if (!key.startsWith("instance:")) continue;
    for (const pair of value as string[]) {
      const run = /^run:(\d+)=(\d+)$/.exec(pair);
      if (run) names.set(run[2] as string, `${key}#${run[1]}`);
    }
  }
  return names;
}
