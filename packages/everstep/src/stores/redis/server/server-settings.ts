/** Whether the server is set up to keep what the store promises. */
import { StoreError } from "../../../model/error.ts";
import type { StoreWarning } from "../../../store/store.ts";
import type { RedisSettings } from "../options.ts";
import { placeOf } from "./failures.ts";

/** What INFO says: "maxmemory_policy" -> "noeviction". */
export type ServerInfo = ReadonlyMap<string, string>;

export function readInfo(text: string): ServerInfo {
  const lines = text.split(/\r?\n/).filter((line) => !line.startsWith("#") && line.includes(":"));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

/** Throws when work must not even begin. */
export function requireSuitable(info: ServerInfo, settings: RedisSettings): void {
  const role = info.get("role");
  if (role === "slave" || role === "replica") {
    throw new StoreError(
      "fatal",
      "STORE_READ_ONLY",
      `${placeOf(settings)} is a replica, which cannot be written. Connect to the primary.`,
    );
  }
  const policy = evictionPolicy(info);
  if (policy !== undefined && !settings.allowEviction) {
    throw new StoreError(
      "fatal",
      "STORE_UNSAFE",
      `${placeOf(settings)} may evict keys when its memory is full (maxmemory-policy ${policy}), and workflows with them. ` +
        "Set maxmemory-policy noeviction; `allowEviction: true` goes without.",
      { details: { policy } },
    );
  }
}

/** What CONFIG says; null where it may not be asked. */
export interface ServerConfig {
  readonly appendfsync: string | null;
  readonly save: string | null;
}

export function warningsOf(info: ServerInfo, config: ServerConfig): readonly StoreWarning[] {
  const policy = evictionPolicy(info);
  const warnings = [...durabilityWarnings(info.get("aof_enabled") === "1", config)];
  if (policy !== undefined) {
    warnings.push({
      code: "EVICTION",
      message:
        `maxmemory-policy is ${policy}: when its memory is full, Redis removes keys, and workflows with them. ` +
        "Set maxmemory-policy noeviction.",
    });
  }
  return warnings;
}

function durabilityWarnings(hasLog: boolean, { appendfsync, save }: ServerConfig): readonly StoreWarning[] {
  if (hasLog) return fsyncWarnings(appendfsync);
  if (save === null) return [unknown("appendonly is no, and whether snapshots are saved could not be asked")];
  if (save.trim() === "") {
    return [
      {
        code: "NO_PERSISTENCE",
        message:
          "appendonly is no and no snapshots are saved: when Redis restarts, every workflow is gone. " +
          "Set appendonly yes and appendfsync always.",
      },
    ];
  }
  return [
    {
      code: "SNAPSHOTS_ONLY",
      message:
        `appendonly is no: when Redis crashes, everything since the last snapshot is lost (save ${save}). ` +
        "Set appendonly yes and appendfsync always.",
    },
  ];
}

function fsyncWarnings(appendfsync: string | null): readonly StoreWarning[] {
  switch (appendfsync) {
    case "always":
      return [];
    case null:
      return [unknown("how often Redis writes its log to disk (appendfsync) could not be asked")];
    case "no":
      return [
        {
          code: "FSYNC_OFF",
          message:
            "appendfsync is no: when the machine fails, everything is lost that its system had not yet written to disk " +
            "(often 30 seconds). Set appendfsync always, or everysec to lose one second at most.",
        },
      ];
    default:
      return [
        {
          code: "FSYNC_EVERY_SECOND",
          message:
            `appendfsync is ${appendfsync}: when the machine fails, up to one second of acknowledged work is lost and ` +
            "done again. Set appendfsync always if it must not be.",
        },
      ];
  }
}

function unknown(what: string): StoreWarning {
  return {
    code: "SETTINGS_UNKNOWN",
    message: `${what} (CONFIG is not allowed here). Look up in the provider's documentation what a restart may lose.`,
  };
}

function evictionPolicy(info: ServerInfo): string | undefined {
  const policy = info.get("maxmemory_policy");
  return policy === "noeviction" ? undefined : policy;
}
