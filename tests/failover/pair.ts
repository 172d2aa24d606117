/**
 * A primary with a standby that has not heard of everything when the primary dies:
 *
 *   clients -> front -> primary -> link -> standby        front and link are proxies
 */
import type { Server, ServerKind } from "../../scripts/services/server.mjs";
import { TcpProxy } from "../chaos/tcp-proxy.ts";
import { catchUp, replications, startPrimary } from "./replication.ts";

export class Pair {
  readonly kind: ServerKind;
  #primary: Server;
  #standby: Server;
  #link: TcpProxy;

  private constructor(primary: Server, standby: Server, link: TcpProxy) {
    this.kind = primary.kind;
    this.#primary = primary;
    this.#standby = standby;
    this.#link = link;
  }

  static async open(kind: ServerKind): Promise<Pair> {
    const primary = await startPrimary(kind);
    return new Pair(primary, ...(await follow(primary)));
  }

  get primary(): Server {
    return this.#primary;
  }

  /** What has been acknowledged up to now survives the primary; from now on nothing more reaches the standby. */
  async detach(): Promise<void> {
    await catchUp(this.#primary, this.#standby);
    await this.#link.refuse();
  }

  /** The primary dies and the standby takes its place. Gives its port, where clients shall go now. */
  async failOver(): Promise<number> {
    const lost = this.#primary;
    await lost.kill(lost.kind === "postgres" ? "SIGQUIT" : "SIGKILL");
    await replications[this.kind].promote(this.#standby);
    this.#primary = this.#standby;
    await this.#link.close();
    await lost.stop();
    return this.#primary.port;
  }

  /** A new standby for a primary that has none. */
  async addStandby(): Promise<void> {
    [this.#standby, this.#link] = await follow(this.#primary);
  }

  async close(): Promise<void> {
    await this.#link.close();
    await this.#standby.stop();
    await this.#primary.stop();
  }
}

async function follow(primary: Server): Promise<[Server, TcpProxy]> {
  const link = await TcpProxy.open(primary.port);
  try {
    return [await replications[primary.kind].startStandby(primary, link.port), link];
  } catch (error) {
    await link.close();
    throw error;
  }
}
