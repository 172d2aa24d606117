/** Servers that have nothing left to give, or might take back what they gave. */
import { inspect } from "node:util";
import { createWorkflows, defineWorkflow } from "everstep";
import { redis } from "everstep/redis";
import type { Store } from "everstep/store";
import { createFakeRuntime } from "everstep/testing";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { at, create, ref, value } from "./given.ts";
import { canStartRedis, startRedis } from "./own-redis.ts";
import { quiet } from "./quiet.ts";
import { onEachServer, type Server } from "./servers.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const act of cleanUps.splice(0).reverse()) await act();
});

describe.skipIf(!canStartRedis)("R-076 a Redis server", () => {
  const start = async (...settings: readonly string[]) => {
    const server = await startRedis(settings);
    cleanUps.push(() => server.stop());
    const open = (options: object = {}): Store => {
      const store = redis({ url: server.url, ...options });
      cleanUps.push(() => store.close());
      return store;
    };
    return { ...server, open };
  };

  test.each(["allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-ttl"])(
    "that may evict keys (%s) is refused, or warned of where that is wanted",
    async (policy) => {
      const { open, client } = await start("--maxmemory-policy", policy);
      const refused = { code: "STORE_UNSAFE", message: expect.stringContaining(policy) };
      await expect(open().migrate()).rejects.toMatchObject(refused);
      await expect(open().write([create("i")], at(0))).rejects.toMatchObject(refused);
      expect(await client.dbsize()).toBe(0);
      const told = await open({ allowEviction: true }).warnings?.();
      expect(told).toContainEqual(expect.objectContaining({ code: "EVICTION" }));
    },
  );

  test("whose memory is full refuses writes whole, keeps what it has, and goes on when there is room", async () => {
    const { open, client } = await start("--maxmemory-policy", "noeviction");
    const store = open();
    await store.migrate();
    const used = Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1]);
    await client.config("SET", "maxmemory", String(used + 3 * 1024 * 1024));
    const canary = "canary-in-the-payload".repeat(2000);
    const two = (n: number) => [`a${n}`, `b${n}`].map((id) => create(id, { params: value(canary) }));
    let made = 0;
    let refusal: unknown;
    for (; made < 500 && refusal === undefined; made++) {
      await store.write(two(made), at(0)).catch((error: unknown) => {
        refusal = error;
        made--;
      });
    }
    expect(refusal).toMatchObject({ code: "STORE_FULL", failure: "unavailable" });
    expect(inspect(refusal, { depth: 10 })).not.toContain("canary");
    expect(await store.countByStatus("order")).toMatchObject({ active: 2 * made });
    expect(await store.getInstance(ref(`a${made}`))).toBeUndefined();
    expect((await store.getInstance(ref(`b${made - 1}`)))?.params).toEqual(value(canary));
    await client.config("SET", "maxmemory", "0");
    expect(await store.write(two(made), at(0))).toMatchObject([{ kind: "created" }, { kind: "created" }]);
  });
});

/** Lets the app's user have so many connections and no more. */
type Allow = (connections: number) => Promise<void>;

async function limitedUser(server: Server): Promise<{ store: Store; allow: Allow }> {
  const url = new URL(process.env[`EVERSTEP_${server.name.toUpperCase()}_URL`] as string);
  const user = `limited_${process.pid}`;
  const password = "of-this-test-only";
  const { ask, end } = await askAs(server.name as "postgres" | "mysql", url.href);
  const statements = {
    postgres: {
      make: [
        `CREATE ROLE ${user} LOGIN PASSWORD '${password}' CONNECTION LIMIT 0`,
        `GRANT ALL ON SCHEMA ${server.namespace} TO ${user}`,
        `GRANT ALL ON ALL TABLES IN SCHEMA ${server.namespace} TO ${user}`,
      ],
      allow: (n: number) => `ALTER ROLE ${user} CONNECTION LIMIT ${n}`,
      drop: [`DROP OWNED BY ${user}`, `DROP ROLE ${user}`],
    },
    mysql: {
      make: [
        `CREATE USER ${user} IDENTIFIED BY '${password}' WITH MAX_USER_CONNECTIONS 1`,
        `GRANT ALL ON ${url.pathname.slice(1)}.* TO ${user}`,
      ],
      allow: (n: number) => `ALTER USER ${user} WITH MAX_USER_CONNECTIONS ${n}`,
      drop: [`DROP USER ${user}`],
    },
  }[server.name as "postgres" | "mysql"];
  cleanUps.push(async () => {
    for (const statement of statements.drop) await ask(statement);
    await end();
  });
  await server.open(null).migrate();
  for (const statement of statements.make) await ask(statement);
  Object.assign(url, { username: user, password });
  if (server.name === "mysql") {
    // The least it can be limited to is one, which somebody has.
    const somebody = await createConnection(url.href);
    cleanUps.push(() => somebody.end());
  }
  const store = server.openAs(url.href);
  cleanUps.push(() => store.close());
  return { store, allow: (n) => ask(statements.allow(n)) };
}

async function askAs(name: "postgres" | "mysql", url: string) {
  if (name === "mysql") {
    const connection = await createConnection(url);
    return { ask: async (text: string) => void (await connection.query(text)), end: () => connection.end() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { ask: async (text: string) => void (await client.query(text)), end: () => client.end() };
}

onEachServer("full servers", (take, name) => {
  if (name === "redis") return test.skip("with limits for users are others");

  test("R-062 a server without a connection to spare is asked ever less often, and used at once when it has one", async () => {
    const { store, allow } = await limitedUser(take());
    await expect(store.getInstance(ref("i"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      failure: "unavailable",
      message: expect.stringMatching(/connection/),
    });
    const runtime = createFakeRuntime({ now: Date.now() });
    const asked: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => "done"),
    );
    const watched = new Proxy(store, {
      get(target, property) {
        const found = Reflect.get(target, property);
        if (typeof found !== "function") return found;
        // The clock waits for what the server is asked.
        return (...given: unknown[]) => {
          if (property === "migrate" || property === "write") asked.push(runtime.now());
          const answer: unknown = found.apply(target, given);
          return answer instanceof Promise ? runtime.track(answer) : answer;
        };
      },
    });
    const app = createWorkflows({ workflows: { W: workflow }, store: watched, runtime, ...quiet() });
    const creating = app.workflows.W.create({ id: "i" });
    await runtime.advance("20 seconds");
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.length).toBeLessThanOrEqual(6);
    await allow(20);
    await runtime.advance("1 minute");
    expect((await creating).id).toBe("i");
    expect((await app.tick()).processed).toBe(1);
  });
});
