import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { token } from "./server-messages.ts";

/** Each stream has a connection of its own, as with a browser. */
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });

/** A stream that is read as fast as it comes; what came is only counted. */
export class HeldStream {
  /** Events so far. */
  events = 0;
  isOpen = true;
  readonly #request: ClientRequest;

  private constructor(outgoing: ClientRequest, response: IncomingMessage) {
    this.#request = outgoing;
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      this.events += text.split("\ndata: ").length - 1;
    });
    response.on("close", () => {
      this.isOpen = false;
    });
    response.on("error", () => {});
  }

  static open(base: string, path: string): Promise<HeldStream> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
      const outgoing = request(new URL(path, base), { agent, headers }, (response) => {
        if (response.statusCode === 200) return resolve(new HeldStream(outgoing, response));
        reject(new Error(`${path} was answered with ${response.statusCode}.`));
      });
      outgoing.on("error", reject);
      outgoing.end();
    });
  }

  close(): void {
    this.#request.on("error", () => {});
    this.#request.destroy();
  }
}
