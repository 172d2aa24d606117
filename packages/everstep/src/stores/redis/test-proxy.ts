/** A wire between a store and its server that a test can cut, or let fall silent in one direction. */
import { connect, createServer, type Server, type Socket } from "node:net";

export class TestProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #pairs: Set<readonly [Socket, Socket]>;
  readonly #muted = new Set<Socket>();
  #isSilent = false;
  #onForward: (() => void) | undefined;

  /** To the server behind `url`. */
  static async start(url: string): Promise<TestProxy> {
    const { hostname, port } = new URL(url);
    const pairs = new Set<readonly [Socket, Socket]>();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new TestProxy(server, pairs, hostname, Number(port));
  }

  private constructor(server: Server, pairs: Set<readonly [Socket, Socket]>, host: string, port: number) {
    this.#server = server;
    this.#pairs = pairs;
    this.url = `redis://127.0.0.1:${(server.address() as { port: number }).port}/0`;
    server.on("connection", (near) => this.#join(near, connect({ host, port })));
  }

  /** From now on requests still arrive, but no answer comes back. Resolves at the next answer that is held back. */
  silence(): Promise<void> {
    this.#isSilent = true;
    return new Promise((resolve) => {
      this.#onForward = resolve;
    });
  }

  speak(): void {
    this.#isSilent = false;
  }

  /** Those open now hear nothing more, those to come do. */
  muteThoseOpen(): void {
    for (const [near] of this.#pairs) this.#muted.add(near);
  }

  /** Breaks every connection there is. */
  cut(): void {
    for (const [near, far] of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    near.on("data", (bytes) => far.write(bytes));
    far.on("data", (bytes) => {
      if (!this.#isSilent && !this.#muted.has(near)) return void near.write(bytes);
      this.#onForward?.();
    });
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  }
}
