/** The body of a request of Node's as the web knows it. */
import type { IncomingMessage } from "node:http";
import { EverstepError } from "../model/error.ts";

/** What a body parser leaves on a request. */
export interface ParsedBody {
  readonly body?: unknown;
  /** As some hosts keep it. */
  readonly rawBody?: unknown;
}

export interface RequestBody {
  readonly content: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> | string;
  /** It is no longer what the headers say of it: its length and its encoding are others. */
  readonly isRewritten: boolean;
}

export function bodyOf(request: IncomingMessage & ParsedBody): RequestBody | null {
  if (request.method === "GET" || request.method === "HEAD" || !hasBody(request)) return null;
  if (request.readableDidRead || request.readableEnded) {
    return { content: parsedBefore(request), isRewritten: true };
  }
  return { content: streamOf(request), isRewritten: false };
}

/** A message of HTTP/1 says that it has a body; one of HTTP/2 may just have it. */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  const length = headers["content-length"];
  return length === undefined ? httpVersionMajor > 1 : length !== "0";
}

/** Written again: a parser has read the stream, which cannot be read twice. */
function parsedBefore({ body, rawBody }: ParsedBody): RequestBody["content"] {
  for (const bytes of [rawBody, body]) {
    if (bytes instanceof Uint8Array) return bytes as Uint8Array<ArrayBuffer>;
  }
  if (typeof body === "string") return body;
  if (body !== undefined) return JSON.stringify(body);
  throw new EverstepError(
    "INTERNAL_ERROR",
    "Something has read the request's body before toNodeHandler, and left no request.body. Mount it before the body parser.",
  );
}

// Flows only while somebody reads: a client cannot send faster than its body is taken.
function streamOf(request: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let stop = (): void => {};
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        const onData = (chunk: Uint8Array<ArrayBuffer>): void => {
          request.pause();
          controller.enqueue(chunk);
        };
        const onEnd = (): void => {
          stop();
          controller.close();
        };
        const onBroken = (cause?: unknown): void => {
          stop();
          controller.error(new Error("The body of the request broke off.", { cause }));
        };
        stop = () => {
          request.off("data", onData).off("end", onEnd).off("close", onBroken);
          request.pause();
        };
        // Stays: an error that nobody hears ends the process.
        request.on("error", onBroken);
        request.pause();
        request.on("data", onData).on("end", onEnd).on("close", onBroken);
        if (request.destroyed) onBroken();
      },
      pull: () => void request.resume(),
      cancel: () => stop(),
    },
    { highWaterMark: 0 },
  );
}
