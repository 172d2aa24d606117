/**
 * The way between a process and its server, which can be made a bad one:
 *
 *   cut          connections are reset, at once or in the middle of the next reply
 *   delayed      replies take their time
 *   muted        connections stay open and nothing passes (or only requests do); all of it arrives once this is over
 *   losing       connections stay open, and what is said in one direction is gone for good
 *   refusing     nobody gets through to the port
 *
 * It may lead somewhere else from some moment on, as a name does that is given to another server.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Lane } from "./lane.ts";

export type Silence = "both ways" | "replies";
export type Direction = "requests" | "replies";

const host = "127.0.0.1";

export class TcpProxy {
  readonly port: number;
  readonly #connections = new Set<Connection>();
  #listener: Server;
  #targetPort: number;
  #delayMs = 0;
  #silence: Silence | null = null;
  #losing: Direction | null = null;

  private constructor(listener: Server, targetPort: number) {
    this.#listener = listener;
    this.#targetPort = targetPort;
    this.port = (listener.address() as AddressInfo).port;
    listener.on("connection", this.#accept);
  }

  static async open(targetPort: number): Promise<TcpProxy> {
    return new TcpProxy(await listen(0), targetPort);
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Resets every connection, or the one that `choose` takes. Gives how many there were to reset. */
  cut(choose?: (connections: readonly unknown[]) => unknown): number {
    const all = [...this.#connections];
    if (all.length === 0) return 0;
    const chosen = choose ? all.filter((each) => each === choose(all)) : all;
    for (const connection of chosen) connection.reset();
    return chosen.length;
  }

  /** Every connection breaks when half of its next reply has been delivered. */
  cutInNextReplies(): number {
    for (const connection of this.#connections) connection.resetInNextReply();
    return this.#connections.size;
  }

  delay(ms: number): void {
    this.#delayMs = ms;
  }

  mute(silence: Silence): void {
    this.#silence = silence;
    for (const connection of this.#connections) connection.mute(silence);
  }

  unmute(): void {
    this.#silence = null;
    for (const connection of this.#connections) connection.unmute();
  }

  lose(direction: Direction): void {
    this.#losing = direction;
    for (const connection of this.#connections) connection.lose(direction);
  }

  recover(): void {
    this.#losing = null;
    for (const connection of this.#connections) connection.recover();
  }

  /** New connections are made to this port. Those that are there break. */
  leadTo(targetPort: number): void {
    this.#targetPort = targetPort;
    this.cut();
  }

  async refuse(): Promise<void> {
    if (!this.#listener.listening) return;
    const closed = once(this.#listener, "close");
    this.#listener.close();
    this.cut();
    await closed;
  }

  async accept(): Promise<void> {
    if (this.#listener.listening) return;
    this.#listener = await listen(this.port);
    this.#listener.on("connection", this.#accept);
  }

  async heal(): Promise<void> {
    this.delay(0);
    this.unmute();
    this.recover();
    await this.accept();
  }

  async close(): Promise<void> {
    await this.refuse();
  }

  readonly #accept = (client: Socket): void => {
    const connection: Connection = new Connection(client, this.#targetPort, {
      delayMs: () => this.#delayMs,
      onGone: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    if (this.#silence) connection.mute(this.#silence);
    if (this.#losing) connection.lose(this.#losing);
  };
}

interface ConnectionHost {
  readonly delayMs: () => number;
  readonly onGone: () => void;
}

class Connection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #requests: Lane;
  readonly #replies: Lane;
  readonly #onGone: () => void;

  constructor(client: Socket, targetPort: number, { delayMs, onGone }: ConnectionHost) {
    this.#client = client;
    this.#server = connect({ host, port: targetPort, allowHalfOpen: true });
    this.#requests = new Lane(this.#server);
    this.#replies = new Lane(client);
    this.#onGone = onGone;
    for (const socket of [client, this.#server]) socket.setNoDelay(true);
    client.on("data", (data) => this.#requests.send(data, 0));
    client.on("end", () => this.#requests.send(null, 0));
    this.#server.on("data", (data) => this.#replies.send(data, delayMs()));
    this.#server.on("end", () => this.#replies.send(null, delayMs()));
    for (const socket of [client, this.#server]) {
      // A side that broke is gone for the other too, as far as the way between them lets it know.
      socket.on("error", () => this.reset());
    }
    client.on("close", () => {
      this.#requests.send(null, 0);
      this.#closed();
    });
    this.#server.on("close", () => {
      this.#replies.send(null, delayMs());
      this.#closed();
    });
  }

  #closed(): void {
    if (this.#client.closed && this.#server.closed) this.#onGone();
  }

  reset(): void {
    this.#requests.close();
    this.#replies.close();
    for (const socket of [this.#client, this.#server]) if (!socket.destroyed) socket.resetAndDestroy();
    this.#onGone();
  }

  resetInNextReply(): void {
    this.#replies.ambushNext((data) => {
      this.#replies.deliverPart(data, Math.ceil(data.length / 2));
      // What is left out is not made up for by what would come next.
      this.#replies.mute();
      // The part must have arrived before the reset, which would overtake it.
      setTimeout(() => this.reset(), 5);
    });
  }

  mute(silence: Silence): void {
    this.#replies.mute();
    if (silence === "both ways") this.#requests.mute();
  }

  unmute(): void {
    this.#requests.unmute();
    this.#replies.unmute();
  }

  lose(direction: Direction): void {
    (direction === "requests" ? this.#requests : this.#replies).lose();
  }

  recover(): void {
    this.#requests.recover();
    this.#replies.recover();
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(port, host);
  await once(server, "listening");
  return server;
}
