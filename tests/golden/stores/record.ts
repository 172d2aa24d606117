/**
 * Writes a golden store and keeps a copy of it: node record.ts <store> <folder>. Started by scripts/record-golden-stores.mjs,
 * which may have copied this file and its neighbours into an older checkout; so they import nothing but the library.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Store } from "everstep/store";
import { readGoldenStore } from "./read.ts";
import { writeGoldenStore } from "./write.ts";

/** Stands in every dump, where tests put a name of their own. */
const namespace = "everstep_golden";

interface Place {
  open(): Store;
  /** What becomes the fixture, once nobody has the store open. */
  dump(): Promise<string | Buffer>;
  remove(): Promise<void>;
  readonly extension: string;
}

// Where it was recorded is nobody's business, and would be another every time.
Error.stackTraceLimit = 0;

const places: Record<string, () => Promise<Place>> = {
  async sqlite() {
    const { sqlite } = await import("everstep/sqlite");
    const folder = mkdtempSync(join(tmpdir(), "everstep-golden-"));
    const path = join(folder, "app.db");
    return {
      extension: "db.gz",
      open: () => sqlite({ path }),
      dump: async () => gzipSync(readFileSync(path), { level: 9 }),
      remove: async () => rmSync(folder, { recursive: true }),
    };
  },

  async postgres() {
    const { postgres } = await import("everstep/postgres");
    const { default: pg } = await import("pg");
    const url = urlOf("EVERSTEP_POSTGRES_URL");
    const options = [
      "--column-inserts",
      "--no-owner",
      "--no-privileges",
      "--no-comments",
      `--schema=${namespace}`,
    ];
    return {
      extension: "sql",
      open: () => postgres({ url, namespace }),
      // Settings of the session that dumped, and commands of psql, mean nothing to who loads it.
      dump: async () =>
        linesWithout(/^(--|SET |SELECT pg_catalog\.set_config|\\|$)/, run("pg_dump", [...options, url])),
      async remove() {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await client.query(`DROP SCHEMA IF EXISTS ${namespace} CASCADE`);
        await client.end();
      },
    };
  },

  async mysql() {
    const { mysql } = await import("everstep/mysql");
    const { createConnection } = await import("mysql2/promise");
    const url = new URL(urlOf("EVERSTEP_MYSQL_URL"));
    const database = url.pathname.slice(1);
    const connection = await createConnection(url.href);
    const tables = async (): Promise<string[]> => {
      const [rows] = await connection.query("SHOW TABLES LIKE ?", [
        `${namespace.replaceAll("_", "\\_")}\\_%`,
      ]);
      return (rows as object[]).map((row) => String(Object.values(row)[0])).sort();
    };
    const login = [`--host=${url.hostname}`, `--port=${url.port}`, `--user=${url.username}`];
    if (url.password !== "") login.push(`--password=${decodeURIComponent(url.password)}`);
    const form = [
      "--compact",
      "--skip-extended-insert",
      "--complete-insert",
      "--hex-blob",
      "--no-tablespaces",
    ];
    return {
      extension: "sql",
      open: () => mysql({ url: url.href, namespace }),
      dump: async () =>
        linesWithout(
          /^(\/\*|$)/,
          run("mariadb-dump", [
            ...login,
            ...form,
            "--default-character-set=utf8mb4",
            database,
            ...(await tables()),
          ]),
        ),
      async remove() {
        for (const table of await tables()) await connection.query(`DROP TABLE \`${table}\``);
        await connection.end();
      },
    };
  },

  async redis() {
    const { redis } = await import("everstep/redis");
    const { Redis } = await import("ioredis");
    const url = urlOf("EVERSTEP_REDIS_URL");
    const client = new Redis(url);
    const keys = async (): Promise<string[]> => (await client.keys(`{${namespace}}*`)).sort();
    return {
      extension: "json",
      open: () => redis({ url, namespace }),
      async dump() {
        const entries = [];
        for (const key of await keys()) entries.push(JSON.stringify(await entryOf(client, key)));
        return `[\n${entries.join(",\n")}\n]\n`;
      },
      async remove() {
        const found = await keys();
        if (found.length > 0) await client.unlink(...found);
        client.disconnect();
      },
    };
  },
};

/** A key as it was: its type, and its content as the commands that wrote it would take it. */
async function entryOf(
  client: import("ioredis").Redis,
  key: string,
): Promise<readonly [string, string, unknown]> {
  const type = await client.type(key);
  switch (type) {
    case "string":
      return [key, type, legible((await client.getBuffer(key)) ?? Buffer.alloc(0))];
    case "hash": {
      const fields = Object.entries(await client.hgetallBuffer(key)).sort(([one], [other]) =>
        one < other ? -1 : 1,
      );
      return [key, type, fields.flatMap(([field, value]) => [field, legible(value)])];
    }
    case "list":
      return [key, type, (await client.lrangeBuffer(key, 0, -1)).map(legible)];
    case "set":
      return [key, type, (await client.smembersBuffer(key)).map(legible)];
    case "zset":
      return [
        key,
        type,
        ((await client.callBuffer("ZRANGE", key, 0, -1, "WITHSCORES")) as Buffer[]).map(legible),
      ];
    default:
      throw new Error(`There is no way yet to keep ${key}, a ${type}.`);
  }
}

/** Text where it is text; bytes otherwise. */
function legible(bytes: Buffer): string | { readonly base64: string } {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : { base64: bytes.toString("base64") };
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
  return stdout;
}

function linesWithout(pattern: RegExp, text: string): string {
  const lines = text.split("\n").filter((line) => !pattern.test(line));
  return `${lines.join("\n")}\n`;
}

function urlOf(variable: string): string {
  const url = process.env[variable];
  if (url === undefined)
    throw new Error(`${variable} is not set. Run this under: node scripts/services.mjs -- ...`);
  return url;
}

const [name = "", folder = "."] = process.argv.slice(2);
const place = await places[name]?.();
if (!place) throw new Error(`"${name}" is not a store. There are: ${Object.keys(places).join(", ")}.`);
try {
  await writeGoldenStore(place.open);
  const store = place.open();
  const { to: version } = await store.migrate();
  const records = await readGoldenStore(store);
  await store.close();
  const path = join(folder, `${name}-v${version}`);
  // The last line of defence: what is there was recorded by code that nobody can run again.
  writeFileSync(`${path}.${place.extension}`, await place.dump(), { flag: "wx" });
  writeFileSync(`${path}.records.json.gz`, gzipSync(JSON.stringify(records), { level: 9 }), { flag: "wx" });
  console.log(`Recorded ${path}.${place.extension}`);
} finally {
  await place.remove();
}
