/**
 * Answers HTTP on a port that no other machine can reach, and to nobody who came by another name. Other users and pages can
 * reach it, so it asks for a token: that of this start, or what the app itself asks for.
 */
import { type Served, serve } from "../../../node/index.ts";
import type { DevApp } from "./dev-app.ts";

export type Listening = Served;

export class PortsTaken extends Error {
  readonly hint = "Choose another one with --port; --port 0 takes any that is free.";

  constructor(ports: readonly number[]) {
    const [first] = ports;
    super(
      ports.length === 1
        ? `Port ${first} is taken by another program.`
        : `The ports ${first} to ${ports.at(-1)} are taken by other programs.`,
    );
  }
}

const address = "127.0.0.1";

/** On the first of the ports that is free. */
export async function listen(
  dev: DevApp,
  ports: readonly number[],
  token: string,
  onKill: () => void,
): Promise<Listening> {
  for (const port of ports) {
    try {
      return await listenOn(dev, port, token, onKill);
    } catch (error) {
      if (reasonOf(error) !== "EADDRINUSE") throw error;
    }
  }
  throw new PortsTaken(ports);
}

/** Which names it answers to is known once the port is, and nobody can ask before. */
async function listenOn(
  { app, library, dashboard, asksItself }: DevApp,
  wanted: number,
  token: string,
  onKill: () => void,
): Promise<Listening> {
  let handler: ((request: Request) => Promise<Response>) | null = null;
  const fetch = (request: Request): Promise<Response> => {
    const options = {
      // Where it is mounted in production is not where it is here.
      basePath: "",
      hosts: [address, "localhost", "[::1]"].map((host) => `${host}:${served.port}`),
      tick: false,
      onKill,
      ...(dashboard ? { dashboard } : {}),
    };
    handler ??= asksItself
      ? app.fetchWith(options)
      : library.createHandler(app, { ...options, authorize: library.bearerToken(token) });
    return handler(request);
  };
  const served = await serve({ fetch }, { port: wanted, host: address });
  return served;
}

function reasonOf(error: unknown): unknown {
  const { details } = Object(error) as { readonly details?: { readonly reason?: unknown } };
  return details?.reason;
}
