/** A second server that follows the first one, asynchronously, and can take its place. One way per kind of server. */
import { type Server, type ServerKind, startServer } from "../../scripts/services/server.mjs";
import { lookFor } from "../chaos/time.ts";
import { mysqlReplication } from "./mysql-replication.ts";
import { postgresReplication } from "./postgres-replication.ts";
import { redisReplication } from "./redis-replication.ts";

export interface Replication {
  readonly primarySettings: Readonly<Record<string, string | number>>;
  /** Starts a server with everything the primary has, which hears of the rest through this port. */
  startStandby(primary: Server, linkPort: number): Promise<Server>;
  /** Whether the standby has all that was acknowledged by the primary before this was asked. */
  hasCaughtUp(primary: Server, standby: Server): Promise<boolean>;
  /** The standby stops following and takes writes. */
  promote(standby: Server): Promise<void>;
}

export const replications: Readonly<Record<ServerKind, Replication>> = {
  postgres: postgresReplication,
  mysql: mysqlReplication,
  redis: redisReplication,
};

const catchUpMs = 30_000;

export function startPrimary(kind: ServerKind): Promise<Server> {
  return startServer(kind, { settings: replications[kind].primarySettings });
}

export async function catchUp(primary: Server, standby: Server): Promise<void> {
  const { hasCaughtUp } = replications[primary.kind];
  const look = async (): Promise<true | undefined> => (await hasCaughtUp(primary, standby)) || undefined;
  if (await lookFor(look, { withinMs: catchUpMs })) return;
  throw new Error(`The standby has not caught up in ${catchUpMs} ms: ${standby.log.slice(-1000)}`);
}
