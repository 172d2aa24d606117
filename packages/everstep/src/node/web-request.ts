import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { bodyOf, type ParsedBody } from "./request-body.ts";
import { requestUrl } from "./request-url.ts";

/** A request of Node's own, or of a framework around it, which may have changed its `url` and read its body. */
export type NodeRequest = IncomingMessage & ParsedBody & { readonly originalUrl?: string };

export function webRequest(request: NodeRequest, signal: AbortSignal): Request {
  const url = requestUrl({
    target: request.originalUrl ?? request.url ?? "",
    hosts: hostsOf(request),
    isEncrypted: (request.socket as TLSSocket | undefined)?.encrypted === true,
  });
  const headers = headersOf(request);
  const body = bodyOf(request);
  if (body?.isRewritten) {
    for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  }
  const init = { method: request.method ?? "GET", headers, signal };
  return new Request(url, body ? ({ ...init, body: body.content, duplex: "half" } as RequestInit) : init);
}

function hostsOf({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  // HTTP/2 has it under this name, once.
  const authority = headers[":authority"];
  if (typeof authority === "string") return [authority];
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === "host");
}

function headersOf({ headers }: IncomingMessage): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    for (const each of [value].flat()) result.append(name, each);
  }
  return result;
}
