/** Streaming replication: the standby is a base backup that goes on with what its primary writes ahead. */
import { join } from "node:path";
import pg from "pg";
import { type Server, startServer } from "../../scripts/services/server.mjs";
import type { Replication } from "./replication.ts";

export const postgresReplication: Replication = {
  primarySettings: {},

  startStandby(_primary, linkPort) {
    return startServer("postgres", {
      createData: (server) => copyPostgres(server, linkPort, ["--write-recovery-conf"]),
      settings: { wal_retrieve_retry_interval: 100 },
    });
  },

  async hasCaughtUp(primary, standby) {
    const [{ written }] = await ask(primary.url, "SELECT pg_current_wal_lsn()::text AS written");
    const [{ there }] = await ask(
      standby.url,
      `SELECT pg_last_wal_replay_lsn() >= '${written}'::pg_lsn AS there`,
    );
    return there === true;
  },

  async promote(standby) {
    await ask(standby.url, "SELECT pg_promote(true, 30)");
  },
};

/** Fills the folder of a server with what the server on this port has. */
export async function copyPostgres(
  server: Pick<Server, "folder" | "binaries" | "run">,
  port: number,
  further: readonly string[] = [],
): Promise<void> {
  const program = server.binaries.pg_basebackup;
  if (program === undefined) throw new Error("pg_basebackup is not installed");
  const from = ["--host=127.0.0.1", `--port=${port}`, "--username=everstep"];
  const how = ["--checkpoint=fast", "--wal-method=stream", "--no-sync"];
  await server.run(program, [...from, `--pgdata=${join(server.folder, "data")}`, ...how, ...further]);
}

async function ask(url: string, text: string): Promise<[Record<string, unknown>]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as [Record<string, unknown>];
  } finally {
    await client.end();
  }
}
