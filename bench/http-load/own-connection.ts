/**
 * `fetch` on one connection that nobody else uses. The host's own shares a pool among all callers, and with hundreds of
 * them in one process some wait for seconds until their turn comes: that would be measured instead of the server.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Fetch } from "everstep/client";

export function ownConnection(): Fetch {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return async (url, { method = "GET", headers, body, signal }) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, agent, headers: Object.fromEntries(new Headers(headers)) };
      const outgoing = request(url, { ...options, ...(signal ? { signal } : {}) }, resolve);
      outgoing.once("error", reject);
      outgoing.end(body ?? undefined);
    });
    const { statusCode: status = 0, headers: answered } = response;
    return new Response(await text(response), {
      status,
      headers: { "content-type": answered["content-type"] ?? "" },
    });
  };
}
