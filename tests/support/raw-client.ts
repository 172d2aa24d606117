/** A client that says exactly what a test wants it to, byte by byte, malformed or slow. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export class RawClient {
  readonly socket: Socket;
  #heard = "";
  #isClosed = false;
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    const go = (): void => {
      for (const each of this.#waiting.splice(0)) each();
    };
    socket.on("data", (data) => {
      this.#heard += data.toString("latin1");
      go();
    });
    // Reset or ended, it is over; what was heard before says how.
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#isClosed = true;
      go();
    });
  }

  static async connect(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new RawClient(socket);
  }

  /** Everything so far. */
  get heard(): string {
    return this.#heard;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  say(text: string): this {
    this.socket.write(text, "latin1");
    return this;
  }

  /** Everything that was heard, once it has this in it. */
  async until(text: string): Promise<string> {
    while (!this.#heard.includes(text)) {
      if (this.#isClosed)
        throw new Error(`Closed before ${JSON.stringify(text)}: ${JSON.stringify(this.#heard)}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#heard;
  }

  /** Everything that was heard, once the connection is closed. */
  async untilClosed(): Promise<string> {
    while (!this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#heard;
  }

  cut(): void {
    this.socket.destroy();
  }
}
