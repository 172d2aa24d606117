/** A server for an app: listens, holds slow clients to limits, and ends without cutting anybody off who is quick. */
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { EverstepError } from "../model/error.ts";
import { systemRuntime } from "../system-runtime.ts";
import { addressOf, listen } from "./listen.ts";
import { isLoopback, isWildcard, ownNames, underOwnNames } from "./own-names.ts";
import { fetchOf, type NodeHandlerOptions, nodeHandler, type WebHandler } from "./to-node-handler.ts";

export interface ServeOptions extends NodeHandlerOptions {
  /** Default 4610; 0 takes any that is free. */
  readonly port?: number;
  /** Default "127.0.0.1": only this machine can reach it. */
  readonly host?: string;
  /**
   * Everybody who can reach the address is meant to use the app. Without it, an app that everybody may use (`allowAll`, or
   * hooks that accept everything) listens on this machine only, and answers under its own names only (`localhost:4610`).
   */
  readonly public?: boolean;
  /** Ends the server, as `close` does. */
  readonly signal?: AbortSignal;
  /** Connections open at once; more are refused. Default 10,000. */
  readonly maxConnections?: number;
  /** Milliseconds for the headers of a request; default 10,000. */
  readonly headersTimeout?: number;
  /** Milliseconds for a whole request, its body included; default 60,000. Answers may take as long as they like. */
  readonly requestTimeout?: number;
  /** Milliseconds a connection is kept for the next request; default 65,000. */
  readonly keepAliveTimeout?: number;
  /** Milliseconds that requests under way have to finish after `close`; default 5,000. */
  readonly closeTimeout?: number;
}

export interface Served {
  /** With a slash at its end. */
  readonly url: string;
  readonly port: number;
  /**
   * Accepts nothing more, ends event streams and idle connections, and waits for requests under way; what has not finished
   * in time is cut off. The app goes on: stop it afterwards.
   */
  close(): Promise<void>;
}

export async function serve(app: WebHandler, options: ServeOptions = {}): Promise<Served> {
  const { host = "127.0.0.1", signal, closeTimeout = 5000 } = options;
  fetchOf(app);
  for (const name of times) checkTime(name, options[name]);
  const port = checkPort(options.port ?? 4610);
  signal?.throwIfAborted();
  const address = await addressOf(checkHost(host));
  const isGuarded = options.public !== true && (await isOpen(app));
  if (isGuarded && !isLoopback(address)) throw openToAll(host);
  let names = ownNames(host, port);
  const handler = isGuarded && app.hosts === undefined ? underOwnNames(app, () => names) : app;
  const closing = new AbortController();
  const server = createServer(serverOptions(options), nodeHandler(handler, options, closing.signal));
  server.maxConnections = options.maxConnections ?? 10_000;
  const unused = unusedConnections(server);
  server.on("request", (_, response) => {
    response.once("close", () => void (closing.signal.aborted && server.closeIdleConnections()));
  });
  const taken = await listen(server, address, port);
  names = ownNames(host, taken);
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closed ??= closeGently(server, closing, { ...systemRuntime, ...options.runtime }, closeTimeout);
    for (const socket of unused) socket.destroy();
    return closed;
  };
  if (signal?.aborted) await close();
  else signal?.addEventListener("abort", () => void close(), { once: true });
  return { url: `http://${shownHost(host, address)}:${taken}/`, port: taken, close };
}

async function isOpen(app: WebHandler): Promise<boolean> {
  return app.isOpen === true || (await app.isOpenToAll?.()) === true;
}

function serverOptions(options: ServeOptions): Parameters<typeof createServer>[0] & object {
  const { headersTimeout = 10_000, requestTimeout = 60_000, keepAliveTimeout = 65_000 } = options;
  return {
    headersTimeout: Math.min(headersTimeout, requestTimeout),
    requestTimeout,
    keepAliveTimeout,
    // How often those are looked at.
    connectionsCheckingInterval: Math.min(5000, Math.ceil(headersTimeout / 2), Math.ceil(requestTimeout / 2)),
    requireHostHeader: true,
    insecureHTTPParser: false,
    noDelay: true,
  };
}

/** Connections that clients have opened in advance. Node counts them as busy until their first request. */
function unusedConnections(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", ({ socket }) => unused.delete(socket));
  return unused;
}

function closeGently(
  server: Server,
  closing: AbortController,
  runtime: typeof systemRuntime,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = runtime.timer(() => server.closeAllConnections(), timeoutMs);
    server.close(() => {
      timer.cancel();
      resolve();
    });
    closing.abort(new Error("The server is about to end."));
  });
}

const times = [
  "headersTimeout",
  "requestTimeout",
  "keepAliveTimeout",
  "writeTimeout",
  "closeTimeout",
] as const;

function checkTime(name: string, ms: unknown): void {
  if (ms === undefined || (typeof ms === "number" && ms > 0 && ms < 2 ** 31)) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${name} is ${String(ms)}; it must be a number of milliseconds above 0.`,
  );
}

function checkPort(port: unknown): number {
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535) return port as number;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `The port is ${String(port)}; it must be a whole number from 0 to 65535.`,
  );
}

function checkHost(host: unknown): string {
  if (typeof host === "string" && host !== "") return host;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    'The host must be a name or an address: "127.0.0.1" for this machine only, "0.0.0.0" for all its addresses.',
  );
}

function shownHost(host: string, address: string): string {
  if (isWildcard(address)) return "localhost";
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  return plain.includes(":") ? `[${plain}]` : plain;
}

function openToAll(host: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `Everybody may do everything with this app (allowAll(), or hooks that accept everything), and other machines can reach host "${host}". ` +
      "Say who may use it (authorize: bearerToken(...)), or keep it on 127.0.0.1. If it is meant for everybody who can " +
      "reach it, pass public: true as well.",
    { details: { host, reason: "OPEN_TO_ALL" } },
  );
}
