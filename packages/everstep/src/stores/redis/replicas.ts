/** Waits until enough replicas have what was written before on the same connection, where the settings ask for it. */
import { StoreError } from "../../model/error.ts";
import { placeOf } from "./failures.ts";
import { integer } from "./reply.ts";
import type { Session } from "./session.ts";

export async function awaitReplicas(session: Session): Promise<void> {
  const { waitReplicas } = session.settings;
  if (waitReplicas === null) return;
  const { count, timeoutMs } = waitReplicas;
  const have = integer(await session.command("WAIT", String(count), String(timeoutMs)));
  if (have >= count) return;
  throw new StoreError(
    "ambiguous",
    "STORE_UNAVAILABLE",
    `${placeOf(session.settings)}: a write reached ${have} of ${count} replicas within ${timeoutMs} ms, so a failover might ` +
      "lose it. It stays unless that happens; trying again is harmless. Check the replicas.",
    { details: { have, count } },
  );
}
