/**
 * One connection at a time, opened when it is needed. The driver neither reconnects nor repeats anything by itself: when
 * a connection is gone, what was under way fails, and the next call opens another.
 */
import type { RedisClient } from "./driver.ts";
import { answerOf, closedFailure, storeFailure } from "./failures.ts";
import type { RedisSettings } from "./options.ts";
import type { Reply } from "./reply.ts";
import type { Script } from "./scripts/index.ts";

/** What a call may have done when it fails: nothing, or anything. */
export type Effect = "reading" | "writing";

export class Connection {
  readonly #settings: RedisSettings;
  readonly #purpose: string;
  readonly #greet: (client: RedisClient) => Promise<void>;
  #opening: Promise<RedisClient> | undefined;
  #latest: RedisClient | undefined;
  #isClosed = false;

  /** `greet` comes before everything else on each new connection. */
  constructor(settings: RedisSettings, purpose: string, greet: (client: RedisClient) => Promise<void>) {
    this.#settings = settings;
    this.#purpose = purpose;
    this.#greet = greet;
  }

  run(script: Script, key: string, args: readonly string[], effect: Effect): Promise<Reply> {
    return this.#do(effect, (client) => runScript(client, script, key, args));
  }

  command(command: string, args: readonly string[], effect: Effect): Promise<Reply> {
    return this.#do(effect, (client) => client.call(command, args) as Promise<Reply>);
  }

  async client(): Promise<RedisClient> {
    if (this.#isClosed) throw closedFailure(this.#settings);
    this.#opening ??= this.#open();
    const opening = this.#opening;
    const client = await opening;
    if (client.status === "ready") return client;
    // It broke while nobody was looking.
    if (this.#opening === opening) this.#opening = undefined;
    return this.client();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#latest?.disconnect();
    await this.#opening?.catch(() => {});
  }

  #open(): Promise<RedisClient> {
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    const opening: Promise<RedisClient> = this.#openNow(forget).catch((error) => {
      forget();
      throw error;
    });
    this.#opening = opening;
    return opening;
  }

  async #openNow(onEnd: () => void): Promise<RedisClient> {
    const { url, namespace, commandTimeoutMs, client: given, driver } = this.#settings;
    const { create } = await driver();
    const client = create(url, {
      protocol: 2,
      connectionName: `everstep:${namespace}:${this.#purpose}`,
      enableReadyCheck: false,
      disableClientInfo: true,
      connectTimeout: Math.min(10_000, commandTimeoutMs),
      ...given,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      commandTimeout: commandTimeoutMs,
    });
    this.#latest = client;
    let cause: unknown;
    client.on("error", (error) => {
      cause = error;
    });
    client.on("end", onEnd);
    try {
      await client.connect();
      await this.#greet(client);
    } catch (error) {
      client.disconnect();
      if (this.#isClosed) throw closedFailure(this.#settings);
      // The driver says that the connection was closed; why, it has told before.
      throw storeFailure(cause ?? error, this.#settings, "connecting");
    }
    if (this.#isClosed) {
      client.disconnect();
      throw closedFailure(this.#settings);
    }
    return client;
  }

  async #do(effect: Effect, act: (client: RedisClient) => Promise<Reply>, isRepeat = false): Promise<Reply> {
    const client = await this.client();
    try {
      return await act(client);
    } catch (error) {
      const wasSent = !isUnsent(error);
      if (isSpent(error) || !wasSent) this.#drop(client);
      if (this.#isClosed) throw closedFailure(this.#settings);
      if (!wasSent && !isRepeat) return this.#do(effect, act, true);
      throw storeFailure(error, this.#settings, wasSent ? effect : "connecting");
    }
  }

  #drop(client: RedisClient): void {
    client.disconnect();
    if (this.#latest === client) this.#opening = undefined;
  }
}

/** By its name; the text goes out only when the server does not know it (any more). */
export async function runScript(
  client: RedisClient,
  { sha, lua }: Script,
  key: string,
  args: readonly string[],
): Promise<Reply> {
  try {
    return (await client.call("EVALSHA", [sha, "1", key, ...args])) as Reply;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return (await client.call("EVAL", [lua, "1", key, ...args])) as Reply;
  }
}

/**
 * After a timeout the answer may still come, and so may those behind it, but nobody knows when; a primary that has become
 * a replica will not change back for our sake. Both times a new connection is better.
 */
function isSpent(error: unknown): boolean {
  return error instanceof Error && (error.message === "Command timed out" || answerOf(error) === "READONLY");
}

/** The driver refuses a command at once when its connection cannot take one. */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Stream isn't writeable");
}
