/** The store's connections and what they have found out: the namespace's epoch, and who this process is to the others. */
import type { MigrationReport, StoreWarning } from "../../store/store.ts";
import { Connection, type Effect, runScript } from "./connection.ts";
import type { RedisClient } from "./driver.ts";
import { placeOf } from "./failures.ts";
import type { RedisSettings } from "./options.ts";
import { integer, list, type Reply, text } from "./reply.ts";
import { oldestCompatible, requireCompatible, schemaVersion } from "./schema-version.ts";
import { greetScript, migrateScript, type Script } from "./scripts/index.ts";
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
  readonly #metaKey: string;
  readonly #connections: Readonly<Record<Use, Connection>>;
  #isChecked = false;
  #epoch: string | undefined;
  #opening: Promise<void> | undefined;
  #sender = "";

  constructor(settings: RedisSettings) {
    this.settings = settings;
    this.channel = `{${settings.namespace}}:nudge`;
    this.#metaKey = `{${settings.namespace}}:meta`;
    this.#connections = {
      work: new Connection(settings, "work", async (client) => {
        await this.#greet(client);
        this.#sender = String(await client.call("CLIENT", ["ID"]));
      }),
      renewal: new Connection(settings, "renewal", (client) => this.#greet(client)),
    };
  }

  /** Whom nudges of this store come from, so that it does not heed its own. */
  get sender(): string {
    return this.#sender;
  }

  async run(script: Script, args: readonly string[], effect: Effect, use: Use = "work"): Promise<Reply> {
    if (this.#epoch === undefined) await this.#open();
    const all = [this.#epoch as string, this.#sender, ...args];
    return this.#connections[use].run(script, this.#metaKey, all, effect);
  }

  async command(command: string, ...args: readonly string[]): Promise<Reply> {
    return this.#connections.work.command(command, args, "reading");
  }

  async plan(): Promise<MigrationReport> {
    await this.#check();
    const found = await this.#connections.work.run(greetScript, this.#metaKey, [], "reading");
    const [version, oldest] = list(found);
    const from = version === null ? 0 : integer(version);
    if (oldest !== null) this.#requireCompatible(from, integer(oldest));
    return { from, to: Math.max(from, schemaVersion), statements: [] };
  }

  async migrate(): Promise<MigrationReport> {
    await this.#check();
    const args = [String(schemaVersion), String(oldestCompatible), this.#epoch ?? ""];
    const reply = list(await this.#connections.work.run(migrateScript, this.#metaKey, args, "writing"));
    const [from, to] = reply.slice(0, 2).map((version) => integer(version)) as [number, number];
    this.#requireCompatible(to, integer(reply[3]));
    this.#epoch = text(reply[2]);
    return { from, to, statements: [] };
  }

  async warnings(): Promise<readonly StoreWarning[]> {
    return warningsOf(await this.#info(), await this.#config());
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.work.close(), this.#connections.renewal.close()]);
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

  async #greet(client: RedisClient): Promise<void> {
    await runScript(client, greetScript, this.#metaKey, []);
  }

  /** Once: settings that change while it runs are the operator's affair. */
  async #check(): Promise<void> {
    if (this.#isChecked) return;
    requireSuitable(await this.#info(), this.settings);
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
