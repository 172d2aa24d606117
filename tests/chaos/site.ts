/** Where the data of a test is: a server of its own, or a file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Server, type ServerKind, startServer, whyNot } from "../../scripts/services/server.mjs";
import type { StoreKind } from "./open-store.ts";
import { TcpProxy } from "./tcp-proxy.ts";

export const storeNames: Record<StoreKind, string> = {
  sqlite: "SQLite",
  postgres: "PostgreSQL",
  mysql: "MariaDB",
  redis: "Redis",
};

/** Why there can be no such site here; undefined if there can. */
export function whyNoSite(kind: StoreKind): string | undefined {
  return kind === "sqlite" ? undefined : whyNot(kind);
}

/** How each server dies: without a chance to tidy up. */
const deadly: Record<ServerKind, NodeJS.Signals> = {
  postgres: "SIGQUIT",
  mysql: "SIGKILL",
  redis: "SIGKILL",
};

export class Site {
  readonly kind: StoreKind;
  readonly folder = mkdtempSync(join(tmpdir(), "everstep-chaos-"));
  readonly #server: Server | null;

  private constructor(kind: StoreKind, server: Server | null) {
    this.kind = kind;
    this.#server = server;
  }

  static async open(kind: StoreKind): Promise<Site> {
    return new Site(kind, kind === "sqlite" ? null : await startServer(kind));
  }

  /** The straight way to the data. */
  get address(): string {
    return this.#server?.url ?? join(this.folder, "app.db");
  }

  /** A way that can be made a bad one; there is none to a file. */
  async openProxy(): Promise<TcpProxy | null> {
    return this.#server && TcpProxy.open(this.#server.port);
  }

  addressThrough(proxy: TcpProxy | null): string {
    if (proxy === null) return this.address;
    const url = new URL(this.address);
    url.port = String(proxy.port);
    return url.href;
  }

  get hasServer(): boolean {
    return this.#server !== null;
  }

  /** The server dies and is started again on the same data. */
  async crashServer(downMs: number): Promise<void> {
    if (!this.#server) return;
    await this.#server.kill(deadly[this.#server.kind]);
    await new Promise((resolve) => setTimeout(resolve, downMs));
    await this.#server.restart();
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
