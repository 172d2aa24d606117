/** Between a store and its server: hears what is said, and cuts or silences single connections. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export interface ProxiedConnection {
  /** By which the server knows it: the port it comes from. */
  readonly port: number;
  /** What the client said at first. */
  readonly said: string;
  /** Calls back with everything that the server says to it from now on. */
  onHeard(listener: (data: Buffer) => void): void;
  readonly isOpen: boolean;
  cut(): void;
  /** Stays open, and nothing passes any more. */
  silence(): void;
}

export interface ProxyOptions {
  /** Sees what the client sends before the server does, and may answer in its place with `reply`. */
  readonly onRequest?: (data: Buffer, reply: (data: Buffer) => void) => Buffer;
  /** The server gets this request and answers, but its answer is lost and the connection is cut. */
  readonly losesReply?: (data: Buffer) => boolean;
}

export class TcpProxy {
  readonly #target: URL;
  readonly #options: ProxyOptions;
  readonly #connections = new Set<Connection>();
  #server: Server;
  #port: number;

  private constructor(target: URL, options: ProxyOptions, server: Server) {
    this.#target = target;
    this.#options = options;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    server.on("connection", (socket) => this.#accept(socket));
  }

  static async open(url: string, options: ProxyOptions = {}): Promise<TcpProxy> {
    return new TcpProxy(new URL(url), options, await listen(0));
  }

  /** The same URL, through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String(this.#port);
    return url.href;
  }

  get connections(): readonly ProxiedConnection[] {
    return [...this.#connections].filter(({ isOpen }) => isOpen);
  }

  cut(): void {
    for (const connection of this.connections) connection.cut();
  }

  /** As a server that is gone: all connections are cut, and none is accepted. */
  async goDown(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }

  async comeUp(): Promise<void> {
    this.#server = await listen(this.#port);
    this.#server.on("connection", (socket) => this.#accept(socket));
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.goDown();
  }

  #accept(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const connection = new Connection(client, server, this.#options);
    this.#connections.add(connection);
    client.on("close", () => this.#connections.delete(connection));
  }
}

const saidMax = 16 * 1024;

class Connection implements ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #options: ProxyOptions;
  #said = "";
  #onHeard: (data: Buffer) => void = () => {};
  #isSilent = false;
  #losesReply = false;

  constructor(client: Socket, server: Socket, options: ProxyOptions) {
    this.#client = client;
    this.#server = server;
    this.#options = options;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => this.cut());
      socket.on("close", () => this.cut());
    }
    client.on("data", (data) => this.#pass(data));
    server.on("data", (data) => this.#answer(data));
  }

  get port(): number {
    return this.#server.localPort ?? 0;
  }

  get said(): string {
    return this.#said;
  }

  onHeard(listener: (data: Buffer) => void): void {
    this.#onHeard = listener;
  }

  get isOpen(): boolean {
    return !this.#client.destroyed;
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  silence(): void {
    this.#isSilent = true;
  }

  #pass(data: Buffer): void {
    if (this.#said.length < saidMax) this.#said += data.toString("latin1");
    if (this.#isSilent) return;
    const { onRequest, losesReply } = this.#options;
    if (losesReply?.(data)) this.#losesReply = true;
    const passed = onRequest ? onRequest(data, (reply) => void this.#client.write(reply)) : data;
    if (passed.length > 0) this.#server.write(passed);
  }

  #answer(data: Buffer): void {
    this.#onHeard(data);
    if (this.#losesReply) this.cut();
    else if (!this.#isSilent) this.#client.write(data);
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
