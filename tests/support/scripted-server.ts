/** A server that answers by script: each request gets the next answer, and is remembered. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly method: string;
  /** As it came over the wire. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The client has gone away before it had its answer. */
  isGone(): boolean;
}

export type ScriptedAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly json: unknown }
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly text: string }
  /** The connection is cut without an answer. */
  | "drop"
  /** No answer, ever. */
  | "hang"
  | ScriptedStream
  | ((response: ServerResponse) => void);

export class ScriptedServer {
  readonly requests: SeenRequest[] = [];
  readonly url: string;
  readonly #answers: ScriptedAnswer[] = [];
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async open(path = ""): Promise<ScriptedServer> {
    const http = createServer({ keepAliveTimeout: 60_000 });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const server = new ScriptedServer(`http://127.0.0.1:${port}${path}`, async () => {
      const closed = once(http, "close");
      http.close();
      http.closeAllConnections();
      await closed;
    });
    http.on("request", (request, response) => void server.#take(request, response));
    return server;
  }

  /** What the next requests get, in this order. */
  script(...answers: readonly ScriptedAnswer[]): void {
    this.#answers.push(...answers);
  }

  /** A stream of events for the next request, in the test's hands. */
  scriptStream(): ScriptedStream {
    const stream = new ScriptedStream();
    this.script(stream);
    return stream;
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "", url = "", headers } = request;
    const isGone = (): boolean => response.destroyed && !response.writableFinished;
    this.requests.push({ method, url, headers, body: Buffer.concat(chunks).toString(), isGone });
    answer(response, this.#answers.shift() ?? { status: 400, text: "Nothing is scripted for this request." });
  }
}

export class ScriptedStream {
  #response: ServerResponse | null = null;

  get isOpen(): boolean {
    return this.#response !== null && !this.#response.destroyed;
  }

  open(response: ServerResponse): void {
    this.#response = response;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
  }

  /** One event with JSON in it. */
  event(type: string, data: unknown, id?: string): void {
    this.write(`event: ${type}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  }

  write(text: string): void {
    this.#response?.write(text);
  }

  end(): void {
    this.#response?.end();
  }

  cut(): void {
    this.#response?.destroy();
  }
}

function answer(response: ServerResponse, scripted: ScriptedAnswer): void {
  if (scripted === "hang") return;
  if (scripted === "drop") return void response.destroy();
  if (typeof scripted === "function") return scripted(response);
  if (scripted instanceof ScriptedStream) return scripted.open(response);
  const { status = 200, headers = {} } = scripted;
  const isJson = "json" in scripted;
  const type = isJson ? "application/json" : "text/plain";
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(isJson ? JSON.stringify(scripted.json) : scripted.text);
}
