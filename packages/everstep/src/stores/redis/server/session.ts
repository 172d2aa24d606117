/** The store's connections and what they have found out: the namespace's epoch, and who this process is to the others. */
import { EverstepError, StoreError } from "../../../model/error.ts";
import type { MigrationReport, StoreWarning } from "../../../store/store.ts";
import { untilAborted } from "../../../store/until-aborted.ts";
import type { RedisClient } from "../driver.ts";
import type { RedisSettings } from "../options.ts";
import { countUnlistedScript, greetScript, migrateScript, type Script } from "../scripts/index.ts";
import { unlistedWarnings } from "../write/upkeep.ts";
import { Connection, type Effect, runScript } from "./connection.ts";
import { placeOf, unansweredFailure } from "./failures.ts";
import { Nodes } from "./nodes.ts";
import { integer, list, type Reply, text } from "./script-values.ts";
import {
  readInfo,
  requireSuitable,
  type ServerConfig,
  type ServerInfo,
  warningsOf,
} from "./server-settings.ts";

/**
 * `work` carries everything, `renewal` only leases: a large write or answer on the one never delays a heartbeat on the
 * other.
 */
export type Use = "work" | "renewal";

export class Session {
  readonly settings: RedisSettings;
  /** The channel of nudges; every other key of the namespace begins alike. */
  readonly channel: string;
  /** For connections of every kind. */
  readonly nodes: Nodes;
  readonly #connections: Readonly<Record<Use, Connection>>;
  #isChecked = false;
  #epoch: string | undefined;
  #opening: Promise<void> | undefined;
  #sender = "";

  constructor(settings: RedisSettings) {
    this.settings = settings;
    this.channel = `{${settings.namespace}}:nudge`;
    this.nodes = new Nodes(settings);
    this.#connections = {
      work: new Connection(settings, this.nodes, "work", async (client) => {
        const server = await this.#greet(client);
        // Every node counts its connections from 1.
        this.#sender = `${server}-${await client.call("CLIENT", ["ID"])}`;
      }),
      renewal: new Connection(settings, this.nodes, "renewal", async (client) => {
        await this.#greet(client);
      }),
    };
  }

  /** Whom nudges of this store come from, so that it does not heed its own. */
  get sender(): string {
    return this.#sender;
  }

  /** Once `signal` is aborted nobody waits any more, and the connection is given up. */
  async run(
    script: Script,
    args: readonly string[],
    effect: Effect,
    use: Use = "work",
    signal?: AbortSignal,
  ): Promise<Reply> {
    const all = await untilAborted(this.#withOrigin(args), signal);
    return this.#connections[use].run(script, all, effect, signal);
  }

  /** Writes, and waits for replicas where the settings ask for it and `isWorthIt` does not say that nothing was written. */
  async write(
    script: Script,
    args: readonly string[],
    isWorthIt: (reply: Reply) => boolean = () => true,
  ): Promise<Reply> {
    return this.#connections.work.write(script, await this.#withOrigin(args), async (client, reply) => {
      if (isWorthIt(reply)) await awaitReplicas(client, this.settings);
    });
  }

  async command(command: string, ...args: readonly string[]): Promise<Reply> {
    return this.#connections.work.command(command, args, "reading");
  }

  async plan(): Promise<MigrationReport> {
    await this.#check();
    const found = await this.#connections.work.run(greetScript, [], "reading");
    const [version, oldest] = list(found);
    const from = version === null ? 0 : integer(version);
    if (oldest !== null) this.#requireCompatible(from, integer(oldest));
    return { from, to: Math.max(from, schemaVersion), statements: [] };
  }

  async migrate(): Promise<MigrationReport> {
    await this.#check();
    const args = [String(schemaVersion), String(oldestCompatible), this.#epoch ?? ""];
    const reply = list(await this.#connections.work.run(migrateScript, args, "writing"));
    const [from, to] = reply.slice(0, 2).map((version) => integer(version)) as [number, number];
    this.#requireCompatible(to, integer(reply[3]));
    this.#epoch = text(reply[2]);
    return { from, to, statements: [] };
  }

  async warnings(): Promise<readonly StoreWarning[]> {
    return [
      ...warningsOf(await this.#info(), await this.#config()),
      ...unlistedWarnings(await this.countUnlisted()),
    ];
  }

  /** By how many entries the lists that lead to runs differ; 0 where nothing is there yet. */
  async countUnlisted(): Promise<number> {
    return integer(await this.#connections.work.run(countUnlistedScript, [], "reading"));
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.work.close(), this.#connections.renewal.close()]);
  }

  /** What every script is told first. */
  async #withOrigin(args: readonly string[]): Promise<readonly string[]> {
    if (this.#epoch === undefined) await this.#open();
    return [this.#epoch as string, this.#sender, ...args];
  }

  /** Migrates at the first call; a failure is not kept, the next call tries again. */
  async #open(): Promise<void> {
    this.#opening ??= this.migrate()
      .then(() => {})
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  /** Gives the name under which this run of the server is known. */
  async #greet(client: RedisClient): Promise<string> {
    return text(list(await runScript(client, greetScript, this.settings.namespace, []))[3]);
  }

  /** Once: settings that change while it runs are the operator's affair. */
  async #check(): Promise<void> {
    if (this.#isChecked) return;
    const info = await this.#info();
    requireSuitable(info, this.settings);
    if (info.get("cluster_enabled") === "1") await this.#connections.work.learnNodes();
    this.#isChecked = true;
  }

  #requireCompatible(version: number, oldest: number): void {
    requireCompatible({ version, oldest }, placeOf(this.settings));
  }

  async #info(): Promise<ServerInfo> {
    return readInfo(text(await this.command("INFO")));
  }

  async #config(): Promise<ServerConfig> {
    const [appendfsync, save] = await Promise.all([this.#setting("appendfsync"), this.#setting("save")]);
    return { appendfsync: appendfsync ?? null, save: save ?? null };
  }

  /** Managed servers do not allow CONFIG. */
  async #setting(name: string): Promise<string | undefined> {
    try {
      const [, value] = list(await this.command("CONFIG", "GET", name));
      return value === undefined ? undefined : text(value);
    } catch {
      return undefined;
    }
  }
}

/** Versions of the key layout, and whether this code may use one newer than itself. */

/** The layout this code writes, and the oldest code that may still work with it. */
export const schemaVersion = 1;
export const oldestCompatible = 1;

export function requireCompatible(
  found: { readonly version: number; readonly oldest: number },
  place: string,
): void {
  if (found.oldest <= schemaVersion) return;
  throw new EverstepError(
    "SCHEMA_TOO_NEW",
    `${place} has schema version ${found.version}, which needs code that knows version ${found.oldest} or later; this ` +
      `everstep knows ${schemaVersion}. A newer everstep has upgraded it: update everstep here too.`,
    { details: { found: found.version, oldestCompatible: found.oldest, known: schemaVersion } },
  );
}

/** Waits until enough replicas have what was written before on the same connection, where the settings ask for it. */

/**
 * On the connection that wrote: the server waits for the last write of the one that asks. The write was done by then, so
 * whatever goes wrong here, whether it stays is what is unknown.
 */
export async function awaitReplicas(client: RedisClient, settings: RedisSettings): Promise<void> {
  const { waitReplicas } = settings;
  if (waitReplicas === null) return;
  const { count, timeoutMs } = waitReplicas;
  const have = integer(await wait(client, [String(count), String(timeoutMs)], settings));
  if (have >= count) return;
  throw new StoreError(
    "ambiguous",
    "STORE_UNAVAILABLE",
    `${placeOf(settings)}: a write reached ${have} of ${count} replicas within ${timeoutMs} ms, so a failover might ` +
      "lose it. It stays unless that happens; trying again is harmless. Check the replicas.",
    { details: { have, count } },
  );
}

async function wait(client: RedisClient, args: readonly string[], settings: RedisSettings): Promise<Reply> {
  try {
    return (await client.call("WAIT", args)) as Reply;
  } catch (error) {
    // One that does not answer, or has become a replica, is not asked again.
    client.disconnect();
    throw unansweredFailure(error, settings);
  }
}
