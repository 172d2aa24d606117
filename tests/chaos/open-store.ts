import type { Store } from "everstep/store";

export type StoreKind = "sqlite" | "postgres" | "mysql" | "redis";

/** How long a call of a store may wait for its answer: shorter than a lease, so that a silent connection is given up. */
const callTimeoutMs = 1500;

export async function openStore(kind: StoreKind, address: string, namespace?: string): Promise<Store> {
  const place = namespace === undefined ? {} : { namespace };
  switch (kind) {
    case "sqlite": {
      const { sqlite } = await import("everstep/sqlite");
      // Processes are killed, not the machine.
      return sqlite({ path: address, synchronous: "normal", ...place });
    }
    case "postgres": {
      const { postgres } = await import("everstep/postgres");
      return postgres({ url: address, statementTimeoutMs: callTimeoutMs, ...place });
    }
    case "mysql": {
      const { mysql } = await import("everstep/mysql");
      return mysql({ url: address, statementTimeoutMs: callTimeoutMs, ...place });
    }
    case "redis": {
      const { redis } = await import("everstep/redis");
      return redis({ url: address, commandTimeoutMs: callTimeoutMs, ...place });
    }
  }
}
