/** As much of ioredis as this store uses, described by itself so that nobody needs its types. */
import { EverstepError } from "../../model/error.ts";

export interface RedisClient {
  readonly status: string;
  connect(): Promise<void>;
  disconnect(): void;
  call(command: string, args: readonly string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: listeners differ by event
  on(event: string, listener: (...args: any[]) => void): unknown;
}

/** Options of the driver itself, handed on as they are. */
export type RedisClientOptions = Readonly<Record<string, unknown>>;

export interface RedisDriver {
  create(url: string, options: RedisClientOptions): RedisClient;
}

export async function loadDriver(load: () => Promise<unknown> = importDriver): Promise<RedisDriver> {
  const { Redis } = (await load().catch(explainMissing)) as { readonly Redis: RedisConstructor };
  return { create: (url, options) => new Redis(url, options) };
}

type RedisConstructor = new (url: string, options: RedisClientOptions) => RedisClient;

function importDriver(): Promise<unknown> {
  return import("ioredis");
}

function explainMissing(cause: unknown): never {
  throw new EverstepError(
    "DRIVER_MISSING",
    'everstep/redis needs the package "ioredis" (5.4 or later), which could not be loaded. Install it: npm install ioredis',
    { cause },
  );
}
