import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import type { RawStore } from "./raw-store.ts";
import { RedisRows } from "./redis-rows.ts";

const script = `
local at, last = 1, #ARGV
while at <= last do
  local what = ARGV[at]
  if what == 'h' then
    redis.call('HSET', ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
    at = at + 4
  elseif what == 'z' then
    redis.call('ZADD', KEYS[1], ARGV[at + 1], ARGV[at + 2])
    at = at + 3
  else
    redis.call('ZREM', KEYS[1], ARGV[at + 1])
    at = at + 2
  end
end`;
const sha = createHash("sha1").update(script).digest("hex");

/** One script for each transaction. The server does one thing at a time, so more connections are more in flight. */
export async function openRedisRaw(url: string, namespace: string, connections: number): Promise<RawStore> {
  const prefix = `{${namespace}}`;
  const client = new Redis(url);
  await client.script("LOAD", script);
  const rows = Array.from({ length: connections }, () => new RedisRows(prefix));
  let lastRun = 0;
  return {
    reserve(count) {
      lastRun += count;
      return lastRun - count + 1;
    },
    async transact(write, connection = 0) {
      const gathered = rows[connection] as RedisRows;
      write(gathered);
      await client.evalsha(sha, 1, `${prefix}:due`, ...gathered.take());
    },
    close: async () => void (await client.quit()),
  };
}
