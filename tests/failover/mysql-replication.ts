/** Replication of MariaDB by its binary log and global transaction ids; it is asynchronous unless it is set up otherwise. */
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { startServer } from "../../scripts/services/server.mjs";
import type { Replication } from "./replication.ts";

let serverIds = 0;

// A standby logs what it has heard too, so that it can be a primary from the beginning.
const settings = (): Record<string, string | number> => ({
  "log-bin": "log",
  "log-slave-updates": "ON",
  "binlog-format": "ROW",
  "server-id": ++serverIds,
});

export const mysqlReplication: Replication = {
  get primarySettings() {
    return settings();
  },

  async startStandby(_primary, linkPort) {
    const standby = await startServer("mysql", { settings: settings() });
    await ask(
      standby.url,
      `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${linkPort}, MASTER_USER = 'everstep',
        MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
    );
    await ask(standby.url, "START SLAVE");
    return standby;
  },

  async hasCaughtUp(primary, standby) {
    const [written] = await ask(primary.url, "SELECT @@gtid_binlog_pos AS position");
    const [answer] = await ask(standby.url, `SELECT MASTER_GTID_WAIT('${written?.position}', 10) AS late`);
    return Number(answer?.late) === 0;
  },

  async promote(standby) {
    await ask(standby.url, "STOP SLAVE");
    await ask(standby.url, "RESET SLAVE ALL");
  },
};

async function ask(url: string, text: string): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(text);
    return rows;
  } finally {
    await connection.end();
  }
}
