/** A page can point a name of its own at this machine; what everybody here may use is answered under its own names only. */
import { isIPv4 } from "node:net";
import { checkHost } from "../http/origin.ts";
import { problemResponse } from "../http/problems.ts";
import type { EverstepError } from "../model/error.ts";
import { fetchOf, type WebHandler } from "./to-node-handler.ts";

/** The names of this machine with a port, and the one that was asked for. */
export function ownNames(host: string, port: number): ReadonlySet<string> {
  const plain = host.replace(/^\[(.*)\]$/, "$1");
  const named = plain.includes(":") ? `[${plain}]` : plain;
  // Where it is the usual one, clients leave the port out.
  const suffix = port === 80 ? "" : `:${port}`;
  return new Set([named, "127.0.0.1", "localhost", "[::1]"].map((name) => `${name.toLowerCase()}${suffix}`));
}

/** `names` is asked with each request: with port 0 they are known once it listens. */
export function underOwnNames(handler: WebHandler, names: () => ReadonlySet<string>): WebHandler {
  const fetch = fetchOf(handler);
  return (request: Request) => {
    try {
      checkHost(request, new URL(request.url), names());
    } catch (problem) {
      return problemResponse(problem as EverstepError);
    }
    return fetch(request);
  };
}

/** An address that no other machine can reach. */
export function isLoopback(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, "");
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}

/** An address that means all of this machine's. */
export function isWildcard(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}
