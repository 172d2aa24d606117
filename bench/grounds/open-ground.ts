/** By name; only the one that is asked for is loaded, with its driver. */
import type { Store } from "everstep/store";
import type { Ground, StoreName } from "./ground.ts";

export async function openGround(name: StoreName, folder: string): Promise<Ground> {
  switch (name) {
    case "sqlite":
      return (await import("./sqlite.ts")).sqliteGround(folder, "full");
    case "sqlite-normal":
      return (await import("./sqlite.ts")).sqliteGround(folder, "normal");
    case "postgres":
      return (await import("./postgres.ts")).postgresGround();
    case "mysql":
      return (await import("./mysql.ts")).mysqlGround();
    case "redis":
      return (await import("./redis.ts")).redisGround();
  }
}

/** The store of a place that another process made. */
export async function openStore(name: StoreName, key: string): Promise<Store> {
  switch (name) {
    case "sqlite":
      return (await import("./sqlite.ts")).openSqlite(key, "full");
    case "sqlite-normal":
      return (await import("./sqlite.ts")).openSqlite(key, "normal");
    case "postgres":
      return (await import("./postgres.ts")).openPostgres(key);
    case "mysql":
      return (await import("./mysql.ts")).openMysql(key);
    case "redis":
      return (await import("./redis.ts")).openRedis(key);
  }
}
