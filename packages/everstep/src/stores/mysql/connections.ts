/** Connections that are set up, verified, kept, and thrown away as soon as there is any doubt about them. */
import { untilAborted } from "../../store/until-aborted.ts";
import type { Driver, DriverConnection, DriverCore, DriverPool } from "./driver.ts";
import type { MysqlSettings } from "./options.ts";
import { catchUp, readFacts, type ServerFacts, settingStatements } from "./session-settings.ts";

export interface Connection {
  readonly client: DriverConnection;
  readonly facts: ServerFacts;
  /** It has been lying in the pool, where the server may have closed it unnoticed. */
  readonly isReused: boolean;
  readonly isLost: boolean;
  /** One round trip; throws the driver's own error. */
  send(sql: string, timeoutMs?: number): Promise<unknown>;
  /** Sets the session to what it was at first. */
  reset(): Promise<void>;
  giveBack(): void;
  /** Closes it at once: what it is in the middle of is rolled back by the server. */
  destroy(): void;
}

export interface Connections {
  take(signal?: AbortSignal): Promise<Connection>;
  close(): Promise<void>;
}

export function connections(driver: Driver, settings: MysqlSettings, max: number): Connections {
  const pool = openPool(driver, settings, max);
  const known = new WeakMap<DriverCore, Known>();
  return {
    async take(signal) {
      const taking = pool.getConnection();
      const client = await untilAborted(taking, signal).catch((error) => {
        // It comes too late for this call, and in time for the next.
        if (signal?.aborted) taking.then((late) => late.release()).catch(() => {});
        throw error;
      });
      client.connection.stream?.ref?.();
      const before = known.get(client.connection);
      if (before !== undefined) return wrap(client, before, settings, true);
      const fresh = watch(client.connection);
      const connection = wrap(client, fresh, settings, false);
      try {
        await untilAborted(connection.reset(), signal);
      } catch (error) {
        connection.destroy();
        throw error;
      }
      known.set(client.connection, fresh);
      return connection;
    },
    close: () => pool.end(),
  };
}

/** The flags decide what a count of rows means: FOUND_ROWS, those that matched, whether or not they changed. */
function openPool(driver: Driver, settings: MysqlSettings, max: number): DriverPool {
  return driver.createPool({
    ...settings.connect,
    connectionLimit: max,
    multipleStatements: true,
    flags: ["FOUND_ROWS", "-LOCAL_FILES"],
    timezone: "Z",
    connectTimeout: settings.connectTimeoutMs,
    connectAttributes: { program_name: "everstep" },
  });
}

interface Known {
  facts: ServerFacts;
  isLost: boolean;
}

/** Connections lost while they lie idle leave the pool by themselves; nobody else has to hear of it. */
function watch(core: DriverCore): Known {
  const known: Known = { facts: unknownFacts, isLost: false };
  core.on("error", () => {
    known.isLost = true;
  });
  return known;
}

const unknownFacts: ServerFacts = { maxPacketBytes: 0, isGalera: false };

function wrap(
  client: DriverConnection,
  known: Known,
  settings: MysqlSettings,
  isReused: boolean,
): Connection {
  return {
    client,
    isReused,
    get facts() {
      return known.facts;
    },
    get isLost() {
      return known.isLost;
    },
    // Later than the server's own limit, which says more.
    send(sql, timeoutMs = settings.statementTimeoutMs + 1000) {
      // Not through the driver's promises: for each it notes the whole stack, in case that it fails.
      return new Promise((resolve, reject) => {
        client.connection.query({ sql, timeout: timeoutMs }, (error, answer) => {
          if (error) reject(error);
          else resolve(answer);
        });
      });
    },
    async reset() {
      const answers = await this.send(settingStatements(settings));
      known.facts = readFacts(answers as readonly unknown[], settings.place);
      if (known.facts.isGalera) await this.send(catchUp);
    },
    giveBack() {
      // One that lies idle does not keep the process from ending.
      client.connection.stream?.unref?.();
      client.release();
    },
    destroy() {
      known.isLost = true;
      client.destroy();
      // The driver says goodbye and waits; a server that does not answer would not hear it.
      client.connection.stream?.destroy?.();
    },
  };
}
