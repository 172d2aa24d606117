import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { EverstepError } from "../model/error.ts";

/** The address behind a name. Looked up once, so that what was checked is what is listened on. */
export async function addressOf(host: string): Promise<string> {
  try {
    return (await lookup(host.replace(/^\[(.*)\]$/, "$1"))).address;
  } catch (cause) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `There is no address for host ${JSON.stringify(host)}. Use "127.0.0.1" for this machine only, "0.0.0.0" for all its addresses.`,
      { cause, details: { host } },
    );
  }
}

/** The port that was taken, which with port 0 is any that is free. */
export async function listen(server: Server, address: string, port: number): Promise<number> {
  const listening = once(server, "listening");
  server.listen({ host: address, port });
  try {
    await listening;
  } catch (cause) {
    throw cannotListen(cause, address, port);
  }
  return (server.address() as AddressInfo).port;
}

function cannotListen(cause: unknown, address: string, port: number): unknown {
  const code = (cause as { readonly code?: string }).code;
  const refused = (message: string): EverstepError =>
    new EverstepError("INVALID_ARGUMENT", message, { cause, details: { host: address, port, reason: code } });
  switch (code) {
    case "EADDRINUSE":
      return refused(
        `Port ${port} of ${address} is taken by another process. Stop that one, or choose another port; port 0 takes any that is free.`,
      );
    case "EACCES":
      return refused(`Port ${port} may not be used by this user. Choose one above 1023.`);
    case "EADDRNOTAVAIL":
      return refused(
        `${address} is no address of this machine. Use "127.0.0.1", or "0.0.0.0" for all it has.`,
      );
    default:
      return cause;
  }
}
