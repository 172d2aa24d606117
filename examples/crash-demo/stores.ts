/** The stores the demo runs on. Its data lies in a file (SQLite) or under a name of its own on a server (all others). */
import type { Store } from "everstep/store";

export type StoreName = "sqlite" | "postgres" | "mysql" | "redis";

interface StoreFacts {
  readonly title: string;
  /** What names its server; null where there is none. */
  readonly variable: string | null;
}

export const stores: Readonly<Record<StoreName, StoreFacts>> = {
  sqlite: { title: "SQLite", variable: null },
  postgres: { title: "PostgreSQL", variable: "EVERSTEP_POSTGRES_URL" },
  mysql: { title: "MySQL", variable: "EVERSTEP_MYSQL_URL" },
  redis: { title: "Redis", variable: "EVERSTEP_REDIS_URL" },
};

export const storeNames = Object.keys(stores) as readonly StoreName[];

/** Only the one that is asked for is loaded, with its driver. */
export async function openStore(name: StoreName, place: string): Promise<Store> {
  switch (name) {
    case "sqlite":
      return (await import("everstep/sqlite")).sqlite(place);
    case "postgres":
      return (await import("everstep/postgres")).postgres({ url: serverUrl(name), namespace: place });
    case "mysql":
      return (await import("everstep/mysql")).mysql({ url: serverUrl(name), namespace: place });
    case "redis":
      return (await import("everstep/redis")).redis({ url: serverUrl(name), namespace: place });
  }
}

export function serverUrl(name: StoreName): string {
  const { variable } = stores[name];
  return (variable && process.env[variable]) || "";
}

/**
 * How long a worker's order stays its own. On one machine it is seen at once that a process is dead, if the store has a
 * way to ask. Where it has none its lease has to end first; short here, 30 seconds by default.
 */
export function leaseSeconds(store: Store): number | null {
  return store.capabilities.ownership.has ? null : 3;
}
