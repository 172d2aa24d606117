/** Settings of the server under which less is kept than the contract promises. */

import { EverstepError } from "../../model/error.ts";
import type { StoreWarning } from "../../store/store.ts";
import { type SqlRow, text } from "../sql/rows/row.ts";

interface ServerSettings {
  readonly isReadOnly: boolean;
  readonly warnings: readonly StoreWarning[];
}

/** By name; a variable the server does not have is not there. */
type Variables = ReadonlyMap<string, string>;

type Ask = (sql: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

const readOnlyNames = [
  ...["read_only", "super_read_only", "innodb_read_only", "tx_read_only", "transaction_read_only"],
];

const names = [
  ...["innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "binlog_format", "innodb_doublewrite"],
  ...["group_replication_single_primary_mode", "tx_isolation", "transaction_isolation", "max_allowed_packet"],
  ...readOnlyNames,
];

export async function readServerSettings(ask: Ask): Promise<ServerSettings> {
  const rows = await ask("SHOW VARIABLES WHERE Variable_name IN (?)", [names]);
  const variables = new Map(rows.map((row) => [text(row, "Variable_name"), text(row, "Value")]));
  return { isReadOnly: isReadOnly(variables), warnings: findWarnings(variables) };
}

// MariaDB 12 has more values than ON and OFF, all of which keep writers out.
function isReadOnly(variables: Variables): boolean {
  return readOnlyNames.some((name) => !isOff(variables.get(name)));
}

export function findWarnings(variables: Variables): readonly StoreWarning[] {
  const value = (name: string): string => variables.get(name) ?? "";
  const isolation = value("transaction_isolation") || value("tx_isolation");
  const logs = !isOff(value("log_bin"));
  const packetBytes = Number(value("max_allowed_packet"));
  const found: (StoreWarning | false)[] = [
    value("innodb_flush_log_at_trx_commit") !== "1" &&
      warn(
        "FLUSH_LOG_OFF",
        `innodb_flush_log_at_trx_commit is ${value("innodb_flush_log_at_trx_commit")}: a crash of the server or of its ` +
          "machine may take the last second of acknowledged writes with it. Set it to 1.",
      ),
    logs &&
      value("sync_binlog") !== "1" &&
      warn(
        "SYNC_BINLOG_OFF",
        `sync_binlog is ${value("sync_binlog")}: after a crash of the machine, replicas may lack acknowledged writes. Set it to 1.`,
      ),
    ["OFF", "0", "DETECT_ONLY"].includes(value("innodb_doublewrite")) &&
      warn(
        "DOUBLEWRITE_OFF",
        `innodb_doublewrite is ${value("innodb_doublewrite")}: a power failure may tear a page beyond repair. Set it to ON, unless the file system ` +
          "writes pages whole.",
      ),
    value("group_replication_single_primary_mode") === "OFF" &&
      warn(
        "GROUP_REPLICATION",
        "group_replication_single_primary_mode is off: members that write at the same time undo writes of each other. Let " +
          "all runners and callers use one member.",
      ),
    isolation !== "READ-COMMITTED" &&
      warn(
        "ISOLATION",
        `The isolation level stays ${isolation} although READ COMMITTED was asked for: writes may be decided by what is no ` +
          "longer true. Connect without a proxy that changes sessions.",
      ),
    logs &&
      value("binlog_format") === "STATEMENT" &&
      warn(
        "BINLOG_STATEMENT",
        "binlog_format is STATEMENT, with which InnoDB refuses writes at READ COMMITTED. Set it to ROW or MIXED.",
      ),
    packetBytes < packetBytesMin &&
      warn(
        "PACKET_SMALL",
        `max_allowed_packet is ${packetBytes} bytes: values as large as the limits allow may not fit. ` +
          `Set it to ${packetBytesMin} or more.`,
      ),
  ];
  return found.filter((warning) => warning !== false);
}

/** Escaping may double a value, and a boundary may hold some of them. */
const packetBytesMin = 8 * 1024 * 1024;

function isOff(value: string | undefined): boolean {
  return value === undefined || ["", "0", "OFF", "NO"].includes(value.toUpperCase());
}

function warn(code: string, message: string): StoreWarning {
  return { code, message };
}

/** `version` as the server says it: "8.0.36", "10.11.6-MariaDB-log". Older ones cannot pass over rows that are locked. */
export function requireVersion(version: string, place: string): void {
  const isMariaDb = /mariadb/i.test(version);
  const [major = 0, minor = 0] = version.split(/[.-]/).map(Number);
  const isRecent = isMariaDb ? major > 10 || (major === 10 && minor >= 6) : major >= 8;
  if (isRecent && !/tidb/i.test(version)) return;
  throw new EverstepError(
    "RUNTIME_UNSUPPORTED",
    `${place} is on a server of version ${version}. The MySQL store needs MySQL 8.0 or MariaDB 10.6, or later ones.`,
    { details: { version } },
  );
}
