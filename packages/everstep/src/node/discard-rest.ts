import type { IncomingMessage, ServerResponse } from "node:http";
import type { Runtime } from "../model/runtime.ts";

/** How long and how much a client may go on sending after its answer. */
const restMs = 1000;
const restBytes = 1024 * 1024;

/**
 * An answer may be complete before the request is, for instance because the request is too large. If the connection were
 * closed at once, a client that is still sending would hear of the close before it has read the answer. So what it still
 * sends is thrown away for a moment.
 */
export function discardRest(request: IncomingMessage, to: ServerResponse, runtime: Runtime): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed || to.destroyed) return resolve();
    let bytes = 0;
    const onData = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (bytes > restBytes) over();
    };
    const over = (): void => {
      timer.cancel();
      request.off("data", onData).off("end", over).off("close", over);
      to.off("close", over);
      resolve();
    };
    const timer = runtime.timer(over, restMs);
    request.on("data", onData).on("end", over).on("close", over);
    request.on("error", () => {});
    to.on("close", over);
    request.resume();
  });
}
