/** Many clients at once: each creates an instance, looks at it, at its history and at a list, and begins again. */
import { type Client, createClient, EverstepError } from "everstep/client";
import { ownConnection } from "./own-connection.ts";
import { token } from "./server-messages.ts";

export const kinds = ["create", "get", "history", "list"] as const;

export type Kind = (typeof kinds)[number];

export interface LoadResult {
  /** Milliseconds of each request that was answered as it should be. */
  readonly samples: Readonly<Record<Kind, number[]>>;
  /** How often which error came. */
  readonly errors: ReadonlyMap<string, number>;
  readonly seconds: number;
}

/** Nothing is tried again: what would be is an error here. */
export function connect(url: string): Client {
  const headers = { authorization: `Bearer ${token}` };
  return createClient({ url, headers, retries: 0, fetch: ownConnection() });
}

export async function load(
  url: string,
  clients: number,
  seconds: number,
  onProgress: (done: number) => void,
): Promise<LoadResult> {
  const samples: Record<Kind, number[]> = { create: [], get: [], history: [], list: [] };
  const errors = new Map<string, number>();
  const lanes = Array.from({ length: clients }, () => connect(url));
  // Connections are made before the clock runs.
  await Promise.all(lanes.map((client) => client.workflows()));
  const start = performance.now();
  const end = start + seconds * 1000;
  const measure = async <Result>(kind: Kind, act: () => Promise<Result>): Promise<Result | null> => {
    const since = performance.now();
    try {
      const result = await act();
      samples[kind].push(performance.now() - since);
      return result;
    } catch (error) {
      const name = `${kind}: ${error instanceof EverstepError ? error.code : String(error)}`;
      errors.set(name, (errors.get(name) ?? 0) + 1);
      return null;
    }
  };
  const told = setInterval(() => onProgress(Math.min(seconds, (performance.now() - start) / 1000)), 1000);
  const lane = async (client: Client): Promise<void> => {
    const order = client.workflow<{ readonly n: number }, number>("order");
    while (performance.now() < end) {
      const instance = await measure("create", () => order.create({ params: { n: 21 } }));
      if (!instance) continue;
      await measure("get", () => instance.details());
      await measure("history", () => instance.history());
      await measure("list", () => order.list({ pageSize: 10 }));
    }
  };
  await Promise.all(lanes.map(lane));
  clearInterval(told);
  return { samples, errors, seconds: (performance.now() - start) / 1000 };
}
