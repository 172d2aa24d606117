/**
 * One connection at a time, opened when it is needed, to the node that serves the namespace. The driver neither reconnects
 * nor repeats anything by itself: when a connection is gone, what was under way fails, and the next call opens another.
 * Only what a node of a cluster refused because another one serves the namespace is done there at once: a refused call
 * has done nothing.
 */
import { EverstepError } from "../../../model/error.ts";
import { untilAborted } from "../../../store/until-aborted.ts";
import type { RedisClient } from "../driver.ts";
import type { RedisSettings } from "../options.ts";
import type { Script } from "../scripts/index.ts";
import { answerOf, closedFailure, messageOf, storeFailure } from "./failures.ts";
import { type Nodes, requireWhole } from "./nodes.ts";
import type { Reply } from "./script-values.ts";

/** What a call may have done when it fails: nothing, or anything. */
export type Effect = "reading" | "writing";

/** How often a call is sent on to another node before it fails. */
const movesMax = 5;

export class Connection {
  readonly #settings: RedisSettings;
  readonly #nodes: Nodes;
  readonly #purpose: string;
  readonly #greet: (client: RedisClient) => Promise<void>;
  readonly #urls = new WeakMap<RedisClient, string>();
  #opening: Promise<RedisClient> | undefined;
  #latest: RedisClient | undefined;
  #isClosed = false;

  /** `greet` comes before everything else on each new connection. */
  constructor(
    settings: RedisSettings,
    nodes: Nodes,
    purpose: string,
    greet: (client: RedisClient) => Promise<void>,
  ) {
    this.#settings = settings;
    this.#nodes = nodes;
    this.#purpose = purpose;
    this.#greet = greet;
  }

  /** Once `signal` is aborted nobody waits any more: the next call goes out on another connection. */
  async run(script: Script, args: readonly string[], effect: Effect, signal?: AbortSignal): Promise<Reply> {
    const { namespace } = this.#settings;
    try {
      return await untilAborted(
        this.#do(effect, (client) => runScript(client, script, namespace, args)),
        signal,
      );
    } catch (error) {
      if (signal?.aborted && this.#latest) this.#drop(this.#latest);
      throw error;
    }
  }

  /** Writes, then does `after` on the same connection with what was answered. */
  write(
    script: Script,
    args: readonly string[],
    after: (client: RedisClient, reply: Reply) => Promise<void>,
  ): Promise<Reply> {
    const { namespace } = this.#settings;
    return this.#do("writing", async (client) => {
      const reply = await runScript(client, script, namespace, args);
      await after(client, reply);
      return reply;
    });
  }

  command(command: string, args: readonly string[], effect: Effect): Promise<Reply> {
    return this.#do(effect, (client) => client.call(command, args) as Promise<Reply>);
  }

  /** Whom to ask when the node that it is connected to fails. */
  async learnNodes(): Promise<void> {
    if (!this.#nodes.isCluster) await this.#lookAround(await this.client(), this.#nodes.url);
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

  /** Where the last one led to; in a cluster to one node after the other, until one of them serves the namespace. */
  async #openNow(onEnd: () => void): Promise<RedisClient> {
    const tried = new Set<string>();
    let failure: unknown;
    for (let url: string | undefined = this.#nodes.url; url !== undefined; ) {
      tried.add(url);
      try {
        const client = await this.#openAt(url);
        client.on("end", onEnd);
        this.#nodes.choose(url);
        return client;
      } catch (error) {
        if (this.#isClosed) throw closedFailure(this.#settings);
        const told: string | undefined =
          answerOf(error) === "MOVED" ? this.#nodes.follow(messageOf(error), url) : undefined;
        // What the node that serves the namespace has to say tells more than that others do not serve it.
        if (told === undefined || failure === undefined) failure = error;
        if (isSaidForAll(error)) break;
        if (told === undefined) this.#nodes.leave(url);
        url = told !== undefined && !tried.has(told) ? told : this.#nodes.otherThan(tried);
      }
    }
    throw storeFailure(failure, this.#settings, "connecting");
  }

  async #openAt(url: string): Promise<RedisClient> {
    const client = await this.#create(url);
    this.#latest = client;
    this.#urls.set(client, url);
    let cause: unknown;
    client.on("error", (error) => {
      cause = error;
    });
    try {
      await client.connect();
      await this.#greet(client);
      if (this.#nodes.isCluster) await this.#lookAround(client, url);
    } catch (error) {
      // One that takes no part in the cluster at the moment still knows who else is in it.
      if (answerOf(error) === "CLUSTERDOWN") await this.#nodes.learn(client, url);
      client.disconnect();
      // The driver says that the connection was closed; why, it has told before.
      throw error instanceof EverstepError ? error : (cause ?? error);
    }
    if (this.#isClosed) {
      client.disconnect();
      throw closedFailure(this.#settings);
    }
    return client;
  }

  async #create(url: string): Promise<RedisClient> {
    const { namespace, commandTimeoutMs, client: given, driver } = this.#settings;
    const { create } = await driver();
    return create(url, {
      protocol: 2,
      connectionName: `everstep:${namespace}:${this.#purpose}`,
      enableReadyCheck: false,
      disableClientInfo: true,
      // Where there are other nodes, one that does not answer is not waited for as long.
      connectTimeout: Math.min(this.#nodes.isCluster ? 2000 : 10_000, commandTimeoutMs),
      ...given,
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      commandTimeout: commandTimeoutMs,
    });
  }

  /** Who else is there, and whether one of them has what should be here. */
  async #lookAround(client: RedisClient, url: string): Promise<void> {
    const others = await this.#nodes.learn(client, url);
    if (this.#purpose === "nudges") return;
    const open = async (other: string): Promise<RedisClient> => {
      const made = await this.#create(other);
      made.on("error", () => {});
      await made.connect();
      return made;
    };
    await requireWhole(client, others, open, this.#settings);
  }

  async #do(effect: Effect, act: (client: RedisClient) => Promise<Reply>): Promise<Reply> {
    let isRepeat = false;
    for (let moves = 0; ; ) {
      const client = await this.client();
      try {
        return await act(client);
      } catch (error) {
        if (error instanceof EverstepError && !this.#isClosed) throw error;
        const url = this.#urls.get(client) as string;
        const wasSent = !isUnsent(error);
        const isMoved = answerOf(error) === "MOVED";
        if (isMoved) this.#nodes.follow(messageOf(error), url);
        else if (!wasSent || isLeft(error)) this.#nodes.leave(url);
        if (isSpent(error) || isMoved || !wasSent) this.#drop(client);
        if (this.#isClosed) throw closedFailure(this.#settings);
        if (isMoved && moves < movesMax) {
          moves += 1;
          continue;
        }
        if (!wasSent && !isRepeat) {
          isRepeat = true;
          continue;
        }
        throw storeFailure(error, this.#settings, wasSent ? effect : "connecting");
      }
    }
  }

  #drop(client: RedisClient): void {
    client.disconnect();
    if (this.#latest === client) this.#opening = undefined;
  }
}

/**
 * How many keys a script names, and which: `meta`, and one that is never there. Others it makes out of the first.
 *
 * While a slot of a cluster moves, part of its keys are here and part are there, and a node runs a script if it has the
 * keys that were named; the rest it would miss half-way through, or take for keys that were never written. But a node
 * refuses whatever names several keys of such a slot of which it lacks one, and it always lacks the second. So as long as
 * the slot moves, every script is refused by both nodes (TRYAGAIN, or ASK), before it has done anything.
 */
function scriptKeys(namespace: string): readonly string[] {
  return ["2", `{${namespace}}:meta`, `{${namespace}}:never`];
}

/** By its name; the text goes out only when the server does not know it (any more). */
export async function runScript(
  client: RedisClient,
  { sha, lua }: Script,
  namespace: string,
  args: readonly string[],
): Promise<Reply> {
  const keys = scriptKeys(namespace);
  try {
    return (await client.call("EVALSHA", [sha, ...keys, ...args])) as Reply;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return (await client.call("EVAL", [lua, ...keys, ...args])) as Reply;
  }
}

/**
 * After a timeout the answer may still come, and so may those behind it, but nobody knows when; a primary that has become
 * a replica will not change back for our sake, and a node that knows no cluster any more may be the wrong one. Each time a
 * new connection is better.
 */
function isSpent(error: unknown): boolean {
  return isTimeout(error) || ["READONLY", "CLUSTERDOWN"].includes(answerOf(error));
}

/** Another node may know more: this one is gone, silent, or not what it was. */
function isLeft(error: unknown): boolean {
  return isSpent(error) || (error instanceof Error && error.name !== "ReplyError");
}

/** Whatever other nodes would say, this is how it is. */
function isSaidForAll(error: unknown): boolean {
  if (error instanceof EverstepError) return true;
  return ["EVERSTEPFOREIGN", "NOAUTH", "WRONGPASS", "NOPERM", "TRYAGAIN", "ASK"].includes(answerOf(error));
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Command timed out";
}

/** The driver refuses a command at once when its connection cannot take one. */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Stream isn't writeable");
}
