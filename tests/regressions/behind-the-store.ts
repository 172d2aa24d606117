/** Changes to a store's data that the store knows nothing of, on every store that keeps it outside of the process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import type { RunId, Store } from "everstep/store";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

export interface Tampering {
  /** With the tables' names in <>, and "?" for the run. */
  readonly sql: string;
  /** A command, its second word the end of a key. */
  readonly redis: (runId: RunId) => readonly string[];
}

export interface Site {
  open(): Store;
  /** Exactly one row is to be hit. */
  tamper(tampering: Tampering, runId: RunId): Promise<void>;
}

export function onEachSite(title: string, scenarios: (take: () => Site) => void): void {
  describe(`${title} (sqlite)`, () => {
    const cleanUps = cleaningUp();
    scenarios(() => takeSqlite(cleanUps));
  });
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      const cleanUps = cleaningUp();
      scenarios(() => {
        const namespace = namespaces.take();
        cleanUps.push(() => namespaces.giveBack(namespace));
        return {
          open: () => server.open(namespace),
          tamper: (tampering, runId) =>
            tamperers[server.name](server.url as string, namespace, tampering, runId),
        };
      });
    });
  }
}

type CleanUps = (() => Promise<void> | void)[];

function cleaningUp(): CleanUps {
  const cleanUps: CleanUps = [];
  afterEach(async () => {
    for (const act of cleanUps.splice(0).reverse()) await act();
  });
  return cleanUps;
}

function takeSqlite(cleanUps: CleanUps): Site {
  const folder = mkdtempSync(join(tmpdir(), "everstep-behind-"));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "app.db");
  return {
    open: () => sqlite({ path, synchronous: "normal" }),
    async tamper({ sql }, runId) {
      const database = new DatabaseSync(path);
      database.exec("PRAGMA ignore_check_constraints = ON");
      const statement = database.prepare(sql.replaceAll(/<(\w+)>/g, "everstep_$1"));
      expect((sql.includes("?") ? statement.run(runId) : statement.run()).changes).toBe(1);
      database.close();
    },
  };
}

type Tamper = (url: string, namespace: string, tampering: Tampering, runId: RunId) => Promise<void>;

const tamperers: Record<"postgres" | "mysql" | "redis", Tamper> = {
  async postgres(url, namespace, { sql }, runId) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const text = sql.replaceAll(/<(\w+)>/g, `"${namespace}"."$1"`).replace("?", "$1");
    expect((await client.query(text, sql.includes("?") ? [runId] : [])).rowCount).toBe(1);
    await client.end();
  },
  async mysql(url, namespace, { sql }, runId) {
    const connection = await createConnection(url);
    const [result] = await connection.query(sql.replaceAll(/<(\w+)>/g, `\`${namespace}_$1\``), [runId]);
    expect((result as { affectedRows: number }).affectedRows).toBe(1);
    await connection.end();
  },
  async redis(url, namespace, { redis }, runId) {
    const client = new Redis(url);
    const [command = "", key = "", ...args] = redis(runId);
    expect(await client.exists(`{${namespace}}${key}`)).toBe(1);
    await client.call(command, `{${namespace}}${key}`, ...args);
    client.disconnect();
  },
};
