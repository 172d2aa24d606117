/** The servers behind the stores, for scenarios about connections: through a proxy, with an author's table, with kills. */
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import type { Store } from "everstep/store";
import { Redis } from "ioredis";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterEach, describe } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";
import { type ProxyOptions, TcpProxy } from "../support/tcp-proxy.ts";

export interface Server {
  readonly name: "postgres" | "mysql" | "redis";
  readonly namespace: string;
  /** A store that reaches the server through the proxy, closed after the test. */
  open(proxy: TcpProxy | null, options?: { readonly max?: number; readonly timeoutMs?: number }): Store;
  /** The same data as somebody else. */
  openAs(url: string): Store;
  /** Closed after the test. */
  proxy(options?: ProxyOptions): Promise<TcpProxy>;
  /** Ends connections from the server's side, known by the ports they come from. */
  kill(ports: readonly number[]): Promise<void>;
}

interface Kind {
  open(
    url: string,
    namespace: string,
    options: { readonly max?: number; readonly timeoutMs?: number },
  ): Store;
  kill(url: string, ports: readonly number[]): Promise<void>;
}

const kinds: Record<Server["name"], Kind> = {
  postgres: {
    open: (url, namespace, { max = 4, timeoutMs = 5000 }) =>
      postgres({ url, namespace, max, statementTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs }),
    async kill(url, ports) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const text = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port = ANY($1)";
      await client.query(text, [ports]);
      await client.end();
    },
  },
  mysql: {
    open: (url, namespace, { max = 4, timeoutMs = 5000 }) =>
      mysql({ url, namespace, max, statementTimeoutMs: timeoutMs }),
    async kill(url, ports) {
      const connection = await createConnection(url);
      const [rows] = await connection.query("SELECT id, host FROM information_schema.processlist");
      for (const { id, host } of rows as { id: number; host: string }[])
        if (ports.includes(Number(host.split(":").at(-1))))
          await connection.query(`KILL ${id}`).catch(() => {});
      await connection.end();
    },
  },
  redis: {
    open: (url, namespace, { timeoutMs = 5000 }) => redis({ url, namespace, commandTimeoutMs: timeoutMs }),
    async kill(url, ports) {
      const client = new Redis(url);
      for (const port of ports)
        await client.call("CLIENT", "KILL", "ADDR", `127.0.0.1:${port}`).catch(() => {});
      client.disconnect();
    },
  },
};

/** The same scenarios on every server there is. */
export function onEachServer(
  title: string,
  scenarios: (take: () => Server, name: Server["name"]) => void,
): void {
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      const cleanUps: (() => Promise<void>)[] = [];
      afterEach(async () => {
        for (const act of cleanUps.splice(0).reverse()) await act();
      });
      scenarios(() => {
        const namespace = namespaces.take();
        const url = server.url as string;
        const { open, kill } = kinds[server.name];
        cleanUps.push(() => namespaces.giveBack(namespace));
        return {
          name: server.name,
          namespace,
          kill: (ports) => kill(url, ports),
          open(proxy, options = {}) {
            const store = open(proxy?.url ?? url, namespace, options);
            cleanUps.push(() => store.close());
            return store;
          },
          openAs: (url) => open(url, namespace, {}),
          async proxy(options) {
            const proxy = await TcpProxy.open(url, options);
            cleanUps.push(() => proxy.close());
            return proxy;
          },
        };
      }, server.name);
    });
  }
}
