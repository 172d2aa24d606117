/**
 * Finds what a move of the namespace's slot has left behind. While a slot moves, both nodes know it, and scripts are
 * refused. But a replica that takes over for the old node does not know of the move: it serves the keys that were left as
 * if they were all. So whoever connects to a node of a cluster looks whether others have keys of the slot too.
 */
import { StoreError } from "../../model/error.ts";
import type { RedisClient } from "./driver.ts";
import { placeOf } from "./failures.ts";
import type { RedisSettings } from "./options.ts";

/** `others` are the primaries that serve other slots. */
export async function requireWhole(
  client: RedisClient,
  others: readonly string[],
  open: (url: string) => Promise<RedisClient>,
  settings: RedisSettings,
): Promise<void> {
  const slot = String(await client.call("CLUSTER", ["KEYSLOT", `{${settings.namespace}}:meta`]));
  const counts = await Promise.all(others.map((url) => countKeys(slot, () => open(url))));
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count === 0) return;
  throw new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `${placeOf(settings)}: ${count} keys of the namespace are at another node than the one that serves it, because a move of ` +
      `slot ${slot} is not finished, so nothing was done. If it is not under way, finish it: redis-cli --cluster fix.`,
    { details: { slot, count } },
  );
}

/** 0 where it cannot be asked: a node that is gone has nothing that could be missed. */
async function countKeys(slot: string, open: () => Promise<RedisClient>): Promise<number> {
  let client: RedisClient | undefined;
  try {
    client = await open();
    return Number(await client.call("CLUSTER", ["COUNTKEYSINSLOT", slot]));
  } catch {
    return 0;
  } finally {
    client?.disconnect();
  }
}
