import { describe, expect, test } from "vitest";
import { readOptions } from "./options.ts";
import { readInfo, requireSuitable, type ServerConfig, warningsOf } from "./server/server-settings.ts";

const settings = readOptions("redis://localhost");
const sound = "# Replication\r\nrole:master\r\n# Memory\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n";

describe("work does not begin on", () => {
  test.each([
    ["a replica", sound.replace("master", "slave"), "STORE_READ_ONLY"],
    ["a server that evicts any key", sound.replace("noeviction", "allkeys-lru"), "STORE_UNSAFE"],
    [
      "a server that evicts keys with a time to live",
      sound.replace("noeviction", "volatile-ttl"),
      "STORE_UNSAFE",
    ],
  ])("%s", (_what, info, code) => {
    expect(() => requireSuitable(readInfo(info), settings)).toThrow(expect.objectContaining({ code }));
  });
});

test("work begins on a sound server, on one that tells nothing of itself, and where eviction is allowed", () => {
  requireSuitable(readInfo(sound), settings);
  requireSuitable(readInfo(""), settings);
  const evicting = readInfo(sound.replace("noeviction", "allkeys-lru"));
  requireSuitable(evicting, { ...settings, allowEviction: true });
});

test.each<[string, string, ServerConfig, string[]]>([
  ["a log that is written at once", sound, { appendfsync: "always", save: "" }, []],
  [
    "a log that is written every second",
    sound,
    { appendfsync: "everysec", save: "" },
    ["FSYNC_EVERY_SECOND"],
  ],
  ["a log that is written some time", sound, { appendfsync: "no", save: "3600 1" }, ["FSYNC_OFF"]],
  ["a log, and no CONFIG", sound, { appendfsync: null, save: null }, ["SETTINGS_UNKNOWN"]],
  ["snapshots alone", without(sound), { appendfsync: "always", save: "3600 1" }, ["SNAPSHOTS_ONLY"]],
  ["nothing at all", without(sound), { appendfsync: "always", save: "" }, ["NO_PERSISTENCE"]],
  ["no log, and no CONFIG", without(sound), { appendfsync: null, save: null }, ["SETTINGS_UNKNOWN"]],
  ["eviction", sound.replace("noeviction", "allkeys-lru"), { appendfsync: "always", save: "" }, ["EVICTION"]],
])("with %s the warnings are right", (_what, info, config, codes) => {
  const warnings = warningsOf(readInfo(info), config);
  expect(warnings.map(({ code }) => code)).toEqual(codes);
  for (const { message } of warnings) expect(message).toMatch(/Set |Look up/);
});

function without(info: string): string {
  return info.replace("aof_enabled:1", "aof_enabled:0");
}
