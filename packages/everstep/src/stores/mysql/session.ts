/**
 * Connections that are set up, verified, kept, and thrown away as soon as there is any doubt about them. Several statements
 * are one text and one round trip. The server stops at the first that fails and leaves the transaction open, so every
 * failure is followed by ROLLBACK, and a connection that does not answer it is thrown away.
 */
import { StoreError } from "../../model/error.ts";
import { untilAborted } from "../../store/until-aborted.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import { type ServerConnection, type ServerConnections, ServerDatabase } from "../sql/server/database.ts";
import { forRenewal, renewalConnectionsMax, type Session } from "../sql/session.ts";
import {
  type Driver,
  type DriverConnection,
  type DriverCore,
  type DriverPool,
  loadDriver,
} from "./driver.ts";
import { isConnectionLost, isOutOfCluster, isUnanswered, storeFailure } from "./failures.ts";
import type { MysqlSettings } from "./options.ts";
import { exchange, type Render, rendering } from "./statements.ts";

export class MysqlDatabase extends ServerDatabase<Connections> {
  readonly #place: string;

  constructor(settings: MysqlSettings) {
    const { place } = settings;
    super({
      place,
      open: async () => connections(await loadDriver(), settings),
      failure: (error, sent) => storeFailure(error, place, sent),
      isRead: ({ sql }) => /^[\s(]*(?:select|show|with)\b/i.test(sql) && !/\bfor\s+update\b/i.test(sql),
      framesWrites: false,
      begin: { sql: "START TRANSACTION", values: [] },
      setLocally: () => [],
      isGone: (error) => isConnectionLost(error) && !isUnanswered(error),
    });
    this.#place = place;
  }

  /**
   * A connection for the caller alone, outside of transactions, for work that may take long; whatever it sets is over
   * afterwards.
   */
  alone<Result>(work: (run: Session["run"]) => Promise<Result>): Promise<Result> {
    return this.withOpen(async (open) => {
      const connection = await open.take("work").catch((error) => {
        throw storeFailure(error, this.#place, "before");
      });
      try {
        const { facts } = connection;
        const patient = { facts, send: (sql: string) => connection.send(sql, patienceMs) };
        await patient.send(patientSession);
        const result = await work((statements) => exchange(patient, open.render, statements));
        await connection.reset();
        connection.leave();
        return result;
      } catch (error) {
        connection.destroy();
        throw storeFailure(error, this.#place, "before");
      }
    });
  }
}

const patienceMs = 600_000;
const patientSession = `SET SESSION lock_wait_timeout = 60 /*M!100600 , max_statement_time = 0 */`;

interface Connections extends ServerConnections {
  readonly render: Render;
  take(use: "work" | "renewal", signal?: AbortSignal): Promise<Connection>;
}

export interface Connection extends ServerConnection {
  readonly client: DriverConnection;
  readonly facts: ServerFacts;
  /** One round trip; throws the driver's own error. */
  send(sql: string, timeoutMs?: number): Promise<unknown>;
  /** Sets the session to what it was at first. */
  reset(): Promise<void>;
}

/** Connects to nothing yet. */
function connections(driver: Driver, settings: MysqlSettings): Connections {
  const render = rendering(driver);
  const pools = {
    work: openPool(driver, settings, settings.max),
    renewal: openPool(driver, forRenewal(settings), renewalConnectionsMax),
  };
  const settingsOf = { work: settings, renewal: forRenewal(settings) };
  const known = new WeakMap<DriverCore, Known>();
  return {
    render,
    async take(use, signal) {
      const taking = pools[use].getConnection();
      const client = await untilAborted(taking, signal).catch((error) => {
        // It comes too late for this call, and in time for the next.
        if (signal?.aborted) taking.then((late) => late.release()).catch(() => {});
        throw error;
      });
      client.connection.stream?.ref?.();
      const before = known.get(client.connection);
      if (before !== undefined) return wrap(client, before, settingsOf[use], render, true);
      const fresh = watch(client.connection);
      const connection = wrap(client, fresh, settingsOf[use], render, false);
      try {
        await untilAborted(connection.reset(), signal);
      } catch (error) {
        connection.destroy();
        throw error;
      }
      known.set(client.connection, fresh);
      return connection;
    },
    async close() {
      await Promise.all([pools.work.end(), pools.renewal.end()]);
    },
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
  const known: Known = { facts: { maxPacketBytes: 0, isGalera: false }, isLost: false };
  core.on("error", () => {
    known.isLost = true;
  });
  return known;
}

function wrap(
  client: DriverConnection,
  known: Known,
  settings: MysqlSettings,
  render: Render,
  isReused: boolean,
): Connection {
  const destroy = (): void => {
    known.isLost = true;
    client.destroy();
    // The driver says goodbye and waits; a server that does not answer would not hear it.
    client.connection.stream?.destroy?.();
  };
  // Later than the server's own limit, which says more.
  const send = (sql: string, timeoutMs = settings.statementTimeoutMs + 1000): Promise<unknown> =>
    // Not through the driver's promises: for each it notes the whole stack, in case that it fails.
    new Promise((resolve, reject) => {
      client.connection.query({ sql, timeout: timeoutMs }, (error, answer) => {
        if (error) reject(error);
        else resolve(answer);
      });
    });
  return {
    client,
    isReused,
    get facts() {
      return known.facts;
    },
    get isLost() {
      return known.isLost;
    },
    send,
    exchange: (statements) =>
      exchange({ facts: known.facts, send }, render, statements).catch((error: unknown) => {
        if (isOver(error)) destroy();
        throw error;
      }),
    async rollback() {
      await send("ROLLBACK");
    },
    async reset() {
      const answers = await send(settingStatements(settings));
      known.facts = readFacts(answers as readonly unknown[], settings.place);
      if (known.facts.isGalera) await send(catchUp);
    },
    leave(error) {
      if (known.isLost || isOver(error)) {
        destroy();
        return;
      }
      // One that lies idle does not keep the process from ending.
      client.connection.stream?.unref?.();
      client.release();
    },
    destroy,
  };
}

function isOver(error: unknown): boolean {
  return isConnectionLost(error) || isOutOfCluster(error);
}

/** What the server says about itself. */
export interface ServerFacts {
  readonly maxPacketBytes: number;
  /** It is a node of a Galera cluster. */
  readonly isGalera: boolean;
}

/**
 * What a connection must be set to before anything is sent over it. Escaping and comparing depend on it, and what the
 * server or somebody between decided otherwise is found out by reading it back.
 */
const sqlMode = [
  ...["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE"],
  ...["ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"],
].join();

/** A process that stopped in the middle of a transaction must not keep its locks for ever. */
const idleSeconds = 60;

/**
 * One round trip. The comments are read by one of the two servers only: MariaDB ends slow statements of every kind and
 * transactions that stand still; MySQL ends slow SELECTs and connections that stand still.
 */
function settingStatements({ statementTimeoutMs, lockTimeoutMs }: MysqlSettings): string {
  const lockSeconds = Math.ceil(lockTimeoutMs / 1000);
  return `SET NAMES utf8mb4;
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET SESSION sql_mode = '${sqlMode}', time_zone = '+00:00', autocommit = 1,
  innodb_lock_wait_timeout = ${lockSeconds}, lock_wait_timeout = ${lockSeconds}
  /*M!100600 , max_statement_time = ${statementTimeoutMs / 1000}, idle_transaction_timeout = ${idleSeconds} */
  /*!80000 , max_execution_time = ${statementTimeoutMs}, wait_timeout = ${idleSeconds} */;
SHOW SESSION VARIABLES LIKE 'wsrep_on';
SELECT @@max_allowed_packet AS packet, @@sql_mode AS mode, @@character_set_client AS charset, @@time_zone AS zone,
  @@autocommit AS autocommit`;
}

/**
 * A node of Galera answers by what it has applied itself, which may be less than another node has acknowledged. With this it
 * catches up before every transaction and every statement on its own: whatever was written anywhere is seen everywhere.
 */
const catchUp = "SET SESSION wsrep_sync_wait = 7";

/** From the answers to the statements above. What the isolation has become is among the warnings. */
export function readFacts(answers: readonly unknown[], place: string): ServerFacts {
  const facts = firstRow(answers.at(-1));
  const mode = text(facts, "mode").split(",");
  const isSafe =
    mode.includes("STRICT_ALL_TABLES") &&
    !mode.includes("NO_BACKSLASH_ESCAPES") &&
    !mode.includes("ANSI_QUOTES") &&
    text(facts, "charset") === "utf8mb4" &&
    text(facts, "zone") === "+00:00" &&
    integer(facts, "autocommit") === 1;
  if (!isSafe) throw unsettled(facts, place);
  const isGalera = firstRow(answers.at(-2)).Value === "ON";
  return { maxPacketBytes: integer(facts, "packet"), isGalera };
}

function firstRow(answer: unknown): SqlRow {
  return (answer as readonly SqlRow[])[0] ?? {};
}

function unsettled(facts: SqlRow, place: string): StoreError {
  return new StoreError(
    "fatal",
    "STORE_FAILED",
    `${place} does not keep the settings of a session: it is at ${JSON.stringify(facts)} after they were set. ` +
      "Connect to the server itself, or to a proxy that leaves sessions alone.",
  );
}
