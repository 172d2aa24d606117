/** A plain server of Node's around a handler of the web's. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler, type WebHandler } from "everstep/node";

export interface HandlerServer {
  readonly url: string;
  /** Who else may answer from now on. */
  answerWith(listener: RequestListener): void;
  /** Everything the handler's watcher was told. */
  readonly problems: readonly unknown[];
  cutConnections(): void;
  close(): Promise<void>;
}

export async function openHandlerServer(handler: WebHandler): Promise<HandlerServer> {
  const problems: unknown[] = [];
  const server = createServer(toNodeHandler(handler, { onProblem: (problem) => problems.push(problem) }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    problems,
    answerWith: (listener) => void server.removeAllListeners("request").on("request", listener),
    cutConnections: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
