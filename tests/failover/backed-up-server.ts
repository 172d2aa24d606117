/** A server whose backup is restored on another one, which takes its place. */
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { createConnection } from "mysql2/promise";
import { type Server, type ServerKind, startServer } from "../../scripts/services/server.mjs";
import { copyPostgres } from "./postgres-replication.ts";
import { call } from "./redis-replication.ts";

/** Makes a backup of a server that is in use, and a server with what is in it. */
const restored: Readonly<Record<ServerKind, (server: Server) => Promise<Server>>> = {
  postgres: ({ port }) => startServer("postgres", { createData: (copy) => copyPostgres(copy, port) }),

  async mysql(server) {
    const dump = server.binaries["mariadb-dump"];
    if (dump === undefined) throw new Error("mariadb-dump is not installed");
    const where = ["--host=127.0.0.1", `--port=${server.port}`, "--user=everstep"];
    const how = ["--no-defaults", ...where, "--single-transaction", "--hex-blob"];
    const text = await server.run(dump, [...how, "everstep"]);
    const copy = await startServer("mysql");
    const connection = await createConnection({ uri: copy.url, multipleStatements: true });
    await connection.query(text);
    await connection.end();
    return copy;
  },

  async redis({ url, folder }) {
    await call(url, "SAVE");
    const copy = await startServer("redis", {
      settings: { appendonly: "no" },
      async createData(place) {
        const file = join(place.folder, "dump.rdb");
        copyFileSync(join(folder, "dump.rdb"), file);
        chmodSync(file, 0o644);
      },
    });
    // With an append-only file from the start, Redis would look for nothing but that.
    await call(copy.url, "CONFIG", "SET", "appendonly", "yes");
    return copy;
  },
};

export class BackedUpServer {
  #primary: Server;
  #copy: Server | null = null;

  private constructor(primary: Server) {
    this.#primary = primary;
  }

  static async open(kind: ServerKind): Promise<BackedUpServer> {
    return new BackedUpServer(await startServer(kind));
  }

  get primary(): Server {
    return this.#primary;
  }

  async keep(): Promise<void> {
    this.#copy = await restored[this.#primary.kind](this.#primary);
  }

  async goBack(): Promise<number> {
    if (!this.#copy) throw new Error("There is no backup.");
    await this.#primary.stop();
    this.#primary = this.#copy;
    this.#copy = null;
    return this.#primary.port;
  }

  async close(): Promise<void> {
    await this.#copy?.stop();
    await this.#primary.stop();
  }
}
