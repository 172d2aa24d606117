/** Waits until enough replicas have what was written before on the same connection, where the settings ask for it. */
import { StoreError } from "../../model/error.ts";
import type { RedisClient } from "./driver.ts";
import { placeOf, unansweredFailure } from "./failures.ts";
import type { RedisSettings } from "./options.ts";
import { integer, type Reply } from "./reply.ts";

/**
 * On the connection that wrote: the server waits for the last write of the one that asks. The write was done by then, so
 * whatever goes wrong here, whether it stays is what is unknown.
 */
export async function awaitReplicas(client: RedisClient, settings: RedisSettings): Promise<void> {
  const { waitReplicas } = settings;
  if (waitReplicas === null) return;
  const { count, timeoutMs } = waitReplicas;
  const have = integer(await wait(client, [String(count), String(timeoutMs)], settings));
  if (have >= count) return;
  throw new StoreError(
    "ambiguous",
    "STORE_UNAVAILABLE",
    `${placeOf(settings)}: a write reached ${have} of ${count} replicas within ${timeoutMs} ms, so a failover might ` +
      "lose it. It stays unless that happens; trying again is harmless. Check the replicas.",
    { details: { have, count } },
  );
}

async function wait(client: RedisClient, args: readonly string[], settings: RedisSettings): Promise<Reply> {
  try {
    return (await client.call("WAIT", args)) as Reply;
  } catch (error) {
    // One that does not answer, or has become a replica, is not asked again.
    client.disconnect();
    throw unansweredFailure(error, settings);
  }
}
