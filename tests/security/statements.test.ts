/** Statements and scripts are the same whatever is in the data: values travel beside them, or escaped. */
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { type SqliteDriver, sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { Redis } from "ioredis";
import mysqlDriver from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import * as scripts from "../../packages/everstep/src/stores/redis/scripts/index.ts";
import { nodeDriver } from "../../packages/everstep/src/stores/sqlite/driver.ts";
import { Namespaces, serverStores } from "../support/server-stores.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { everyVerb } from "./every-verb.ts";

/** What would end a text, a comment, a statement or a command, around a word that is nowhere else. */
const hostile = [
  "x' zebra OR '1'='1",
  'x" zebra; DROP TABLE run; --',
  "x` zebra /*",
  "x\\' zebra",
  "x\r\nFLUSHALL zebra\r\n",
  "x}zebra{y",
  "x]] zebra [[",
  "$1 ? :zebra %s",
];

const cleanUps: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const act of cleanUps.splice(0).reverse()) await act();
});

function take(name: "postgres" | "mysql" | "redis"): { readonly url: string; readonly namespace: string } {
  const server = serverStores.find((each) => each.name === name);
  if (server?.url === undefined) throw new Error(`There is no ${name}.`);
  const namespaces = new Namespaces(server);
  const namespace = namespaces.take();
  cleanUps.push(() => namespaces.giveBack(namespace));
  return { url: server.url, namespace };
}

async function tellEverything(store: Store): Promise<void> {
  cleanUps.push(() => store.close());
  for (const text of hostile) {
    const told = await everyVerb(store, text);
    expect(told.map(({ kind }) => kind)).not.toContain("not-found");
  }
}

/** Notes the text of every statement that is prepared or run. */
function notingDriver(texts: string[]): SqliteDriver {
  return {
    ...nodeDriver,
    async open(path, options) {
      const opened = await nodeDriver.open(path, options);
      const noting = (name: "exec" | "prepare" | "prepareTuples") => ({
        value(sql: string) {
          texts.push(sql);
          return opened[name](sql);
        },
      });
      return Object.create(opened, {
        exec: noting("exec"),
        prepare: noting("prepare"),
        prepareTuples: noting("prepareTuples"),
      });
    },
  };
}

describe("SEC-16 no statement has a value in its text", () => {
  test("sqlite", async () => {
    const texts: string[] = [];
    await tellEverything(sqlite({ path: ":memory:", driver: notingDriver(texts) }));
    expect(texts.length).toBeGreaterThan(20);
    for (const text of texts) expect(text).not.toContain("zebra");
  });

  test.skipIf(process.env.EVERSTEP_POSTGRES_URL === undefined)("postgres", async () => {
    const texts: string[] = [];
    const query = pg.Client.prototype.query;
    vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const [asked] = args as [string | { readonly text: string }];
      texts.push(typeof asked === "string" ? asked : asked.text);
      return Reflect.apply(query, this, args);
    });
    await tellEverything(postgres(take("postgres")));
    expect(texts.length).toBeGreaterThan(20);
    for (const text of texts) expect(text).not.toContain("zebra");
  });

  test.skipIf(process.env.EVERSTEP_MYSQL_URL === undefined)(
    "mysql, where they travel as quoted texts, escaped by the driver if they need it",
    async () => {
      const templates: string[] = [];
      const format = mysqlDriver.format;
      vi.spyOn(mysqlDriver, "format").mockImplementation((...args: Parameters<typeof format>) => {
        templates.push(args[0]);
        return format(...args);
      });
      const { url, namespace } = take("mysql");
      let sent = "";
      const proxy = await TcpProxy.open(url, {
        onRequest(data) {
          sent += data.toString("latin1");
          return data;
        },
      });
      cleanUps.push(() => proxy.close());
      await tellEverything(mysql({ url: proxy.url, namespace }));
      expect(templates.length).toBeGreaterThan(20);
      for (const template of templates) expect(template).not.toContain("zebra");
      expect(sent).toContain("x\\' zebra");
      expect(sent).not.toContain("x' zebra");
    },
  );
});

describe.skipIf(process.env.EVERSTEP_REDIS_URL === undefined)("SEC-17 on Redis", () => {
  test("there is a closed set of scripts, and data reaches them as arguments only", async () => {
    const called = new Set<string>();
    const ran = new Set<string>();
    const texts: string[] = [];
    const driver = async () => ({
      create(url: string, options: object) {
        const client = new Redis(url, options);
        const call = client.call.bind(client) as unknown as (
          command: string,
          args: readonly string[],
        ) => Promise<unknown>;
        Object.assign(client, {
          call(command: string, args: readonly string[]) {
            called.add(command);
            if (command === "EVALSHA") ran.add(String(args[0]));
            if (command === "EVAL") texts.push(String(args[0]));
            // Two keys are named, always the same: the data's own, and one that is never there.
            const keys = ["meta", "never"].map((name) => `{${place.namespace}}:${name}`);
            if (command.startsWith("EVAL")) expect(args.slice(1, 4)).toEqual(["2", ...keys]);
            return call(command, args);
          },
        });
        return client as never;
      },
    });
    const place = take("redis");
    await tellEverything(redis({ ...place, driver }));
    const known = Object.values(scripts).flatMap((each) => ("sha" in each ? [each] : []));
    for (const sha of ran) expect(known.map((script) => script.sha)).toContain(sha);
    for (const text of texts) expect(known.map(({ lua }) => lua)).toContain(text);
    expect(ran.size).toBeGreaterThan(8);
    expect([...called].filter((command) => !command.startsWith("EVAL")).toSorted()).toEqual([
      "CLIENT",
      "INFO",
    ]);
  });

  test("a script is put together when the code is loaded, from constants", () => {
    for (const each of Object.values(scripts)) {
      if (!("lua" in each)) continue;
      expect(each.lua, each.name).not.toMatch(/loadstring|dofile|redis\.call\(\s*'(EVAL|SCRIPT)/);
    }
  });
});
