import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { findWarnings, readServerSettings } from "./server-settings.ts";

const sound = {
  innodb_flush_log_at_trx_commit: "1",
  sync_binlog: "1",
  log_bin: "ON",
  binlog_format: "ROW",
  innodb_doublewrite: "ON",
  transaction_isolation: "READ-COMMITTED",
  max_allowed_packet: "67108864",
};

const codes = (variables: Record<string, string>): string[] =>
  findWarnings(new Map(Object.entries({ ...sound, ...variables }))).map(({ code }) => code);

test("a server that keeps its promises gives no warning", () => {
  expect(codes({})).toEqual([]);
  expect(codes({ log_bin: "OFF", sync_binlog: "0", binlog_format: "STATEMENT" })).toEqual([]);
  expect(codes({ transaction_isolation: "", tx_isolation: "READ-COMMITTED" })).toEqual([]);
});

test.each([
  ["FLUSH_LOG_OFF", { innodb_flush_log_at_trx_commit: "2" }],
  ["SYNC_BINLOG_OFF", { sync_binlog: "0" }],
  ["DOUBLEWRITE_OFF", { innodb_doublewrite: "OFF" }],
  ["DOUBLEWRITE_OFF", { innodb_doublewrite: "DETECT_ONLY" }],
  ["GROUP_REPLICATION", { group_replication_single_primary_mode: "OFF" }],
  ["ISOLATION", { transaction_isolation: "REPEATABLE-READ" }],
  ["BINLOG_STATEMENT", { binlog_format: "STATEMENT" }],
  ["PACKET_SMALL", { max_allowed_packet: "1048576" }],
])("%s is warned of at %j", (code, variables) => {
  expect(codes(variables as Record<string, string>)).toEqual([code]);
});

test.each([
  [{ read_only: "ON" }, true],
  [{ read_only: "NO_LOCK_NO_ADMIN" }, true],
  [{ super_read_only: "ON", read_only: "ON" }, true],
  [{ innodb_read_only: "ON" }, true],
  [{ transaction_read_only: "ON" }, true],
  [{ read_only: "OFF", innodb_read_only: "OFF", tx_read_only: "OFF" }, false],
  [{}, false],
])("with %j it is read-only: %s", async (variables, expected) => {
  const rows = Object.entries(variables).map(([name, value]) => ({ Variable_name: name, Value: value }));
  expect((await readServerSettings(async () => rows)).isReadOnly).toBe(expected);
});

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  beforeAll(place.create);
  afterAll(place.drop);

  test("its own settings are looked at, with the session's isolation", async () => {
    const store = await place.open();
    const [row] = await place.query("SELECT @@innodb_flush_log_at_trx_commit AS flush");
    const warnings = (await store.warnings()).map(({ code }) => code);
    expect(warnings.includes("FLUSH_LOG_OFF")).toBe(row?.flush !== 1);
    expect(warnings).not.toContain("ISOLATION");
    await store.close();
  });
});
