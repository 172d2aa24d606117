/** Sends a Response of the web by a response of Node's: piece by piece, no faster than the client takes them. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "../model/runtime.ts";
import { discardRest } from "./discard-rest.ts";

export interface SendSettings {
  readonly runtime: Runtime;
  /** A client that takes nothing for this long is cut off. */
  readonly stallMs: number;
  /** Given when the server is about to end: streams end at once, connections after their answer. */
  readonly closing?: AbortSignal;
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Resolves when everything was handed to the system, or the client has gone away. */
export async function sendResponse(
  response: Response,
  to: ServerResponse,
  request: IncomingMessage,
  settings: SendSettings,
): Promise<void> {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader() ?? null;
  const isBare = request.method === "HEAD" || response.status === 204 || response.status === 304;
  const end = (): void => void reader?.cancel().catch(() => {});
  const { closing } = settings;
  const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  to.once("close", end);
  if (isEvents) closing?.addEventListener("abort", end);
  if (isBare || to.destroyed || (isEvents && closing?.aborted)) end();
  try {
    const writeHead = (length?: number): void => head(response, to, request, closing, length);
    if (!reader || isBare) writeHead(isBare ? undefined : 0);
    else await sendBody(reader, to, writeHead, settings);
    await flushed(to, request, settings);
    await discardRest(request, to, settings.runtime);
    await ended(to);
  } catch (problem) {
    end();
    throw problem;
  } finally {
    to.off("close", end);
    closing?.removeEventListener("abort", end);
  }
}

async function sendBody(
  reader: Reader,
  to: ServerResponse,
  writeHead: (length?: number) => void,
  { runtime, stallMs }: SendSettings,
): Promise<void> {
  let reading = reader.read();
  // A stream that has nothing to say yet: that it is open is told at once.
  if (await isLate(reading, runtime)) {
    writeHead();
    to.flushHeaders();
  }
  let piece = await reading;
  if (!to.headersSent && !piece.done) {
    reading = reader.read();
    // Whole in one piece, as most answers are: then its length is known.
    const isWhole = !(await isLate(reading, runtime)) && (await reading).done;
    writeHead(isWhole ? piece.value.byteLength : undefined);
    await write(piece.value, to, runtime, stallMs);
    piece = await reading;
  }
  if (!to.headersSent) writeHead(0);
  while (!piece.done && !to.destroyed) {
    await write(piece.value, to, runtime, stallMs);
    piece = await reader.read();
  }
}

function head(
  response: Response,
  to: ServerResponse,
  request: IncomingMessage,
  closing: AbortSignal | undefined,
  length: number | undefined,
): void {
  if (to.headersSent || to.destroyed) return;
  const headers: Record<string, string | string[]> = {};
  response.headers.forEach((value, name) => {
    if (!hopByHop.has(name)) headers[name] = value;
  });
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  if (length !== undefined) headers["content-length"] = String(length);
  // What is left of a body that nobody wants would be taken for the next request.
  const isLast = !request.complete || closing?.aborted === true;
  if (isLast && request.httpVersionMajor < 2) headers.connection = "close";
  to.writeHead(response.status, headers);
}

const hopByHop = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade"]);

/** Resolves when the next piece may follow. */
async function write(
  piece: Uint8Array,
  to: ServerResponse,
  runtime: Runtime,
  stallMs: number,
): Promise<void> {
  if (to.destroyed) return;
  const goesOn = to.write(piece);
  // Where a compressing layer of a framework would wait for more.
  (to as { readonly flush?: () => void }).flush?.();
  if (!goesOn) await taken(to, runtime, stallMs, (done) => void to.once("drain", done));
}

// A connection whose answer has been ended counts as idle, and a server that closes cuts idle ones off, whatever is left
// in their buffers. So an answer is ended when the system has all of it.
async function flushed(
  to: ServerResponse,
  request: IncomingMessage,
  { runtime, stallMs }: SendSettings,
): Promise<void> {
  const socket = request.httpVersionMajor < 2 ? to.socket : null;
  if (!socket || socket.writableLength === 0) return;
  await taken(to, runtime, stallMs, (done) => void socket.write("", done));
}

/** What the client takes within the time it has; else it is cut off. */
function taken(
  to: ServerResponse,
  runtime: Runtime,
  stallMs: number,
  whenTaken: (done: () => void) => void,
): Promise<void> {
  return new Promise((resolve) => {
    if (to.destroyed) return resolve();
    const timer = runtime.timer(() => to.destroy(), stallMs);
    const done = (): void => {
      timer.cancel();
      to.off("close", done).off("drain", done);
      resolve();
    };
    to.once("close", done);
    whenTaken(done);
  });
}

function ended(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (to.destroyed) return resolve();
    to.once("close", resolve);
    to.end(() => resolve());
  });
}

/** Not there when everything that can go on has gone on. */
function isLate(work: Promise<unknown>, runtime: Runtime): Promise<boolean> {
  return new Promise((resolve) => {
    const inTime = (): void => resolve(false);
    work.then(inTime, inTime);
    runtime.drained(() => resolve(true));
  });
}
