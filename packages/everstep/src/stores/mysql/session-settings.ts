/**
 * What a connection must be set to before anything is sent over it. Escaping and comparing depend on it, and what the
 * server or somebody between decided otherwise is found out by reading it back.
 */
import { StoreError } from "../../model/error.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { MysqlSettings } from "./options.ts";

/** What the server says about itself. */
export interface ServerFacts {
  readonly maxPacketBytes: number;
  /** It is a node of a Galera cluster. */
  readonly isGalera: boolean;
}

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
export function settingStatements({ statementTimeoutMs, lockTimeoutMs }: MysqlSettings): string {
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
export const catchUp = "SET SESSION wsrep_sync_wait = 7";

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
