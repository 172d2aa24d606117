import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, versionFolders } from "./binaries.mjs";
import { readOrEmpty } from "./folder.mjs";
import { converse, loopback } from "./ports.mjs";
import { execute } from "./processes.mjs";

export const postgres = {
  name: "postgres",
  title: "PostgreSQL",
  variable: "EVERSTEP_POSTGRES_URL",
  packages: ["postgresql"],
  accounts: ["postgres", "nobody"],
  signals: { clean: "SIGINT", throwAway: "SIGQUIT" },

  findBinaries() {
    const server = findProgram(["postgres"], installationFolders());
    const besides = server && [dirname(realpathSync(server))];
    const initdb = server && findProgram(["initdb"], besides);
    const pg_basebackup = server && findProgram(["pg_basebackup"], besides);
    return initdb && { server, postgres: server, initdb, ...(pg_basebackup && { pg_basebackup }) };
  },

  async createData({ folder, binaries, execution }) {
    const access = ["--username=everstep", "--auth=trust", "--encoding=UTF8", "--no-locale"];
    const argv = [`--pgdata=${join(folder, "data")}`, ...access, "--no-sync"];
    // Killed, it would leave shared memory behind.
    await execute(binaries.initdb, argv, { ...execution, throwAway: "SIGTERM" });
  },

  argv({ folder, port, durable }) {
    const where = ["-D", join(folder, "data"), "-p", String(port)];
    return [
      ...where,
      ...asOptions({ listen_addresses: loopback, unix_socket_directories: "", ...settings(durable) }),
    ];
  },

  asOptions,

  // The server writes its own state into its own folder, so a stranger on our port cannot be taken for it.
  async isReady({ folder, port, pid }) {
    const [owner, , , , , , , status] = readOrEmpty(join(folder, "data/postmaster.pid")).split("\n");
    return (
      Number(owner) === pid && ["ready", "standby"].includes(status?.trim()) && (await acceptsQueries(port))
    );
  },

  url: (port) => `postgres://everstep@${loopback}:${port}/postgres`,

  docker: {
    image: "postgres:17-alpine",
    port: 5432,
    environment: { POSTGRES_USER: "everstep", POSTGRES_DB: "postgres", POSTGRES_HOST_AUTH_METHOD: "trust" },
    data: "/var/lib/postgresql/data",
    argv: (durable) => asOptions(settings(durable)),
    isReady: acceptsQueries,
  },

  /** What a killed server leaves outside its folder: a few bytes of shared memory that mark the folder as used. */
  async removeTraces({ folder }) {
    const [, , , , , , memory = ""] = readOrEmpty(join(folder, "data/postmaster.pid")).split("\n");
    const [, id] = memory.trim().split(/\s+/);
    if (id) await execute("ipcrm", ["-m", id]).catch(() => {});
  },
};

// Without fsync a commit is still handed to the operating system: a killed server loses nothing, a lost machine does.
function settings(durable) {
  return {
    fsync: durable ? "on" : "off",
    synchronous_commit: "on",
    max_connections: 200,
    // What a killed server leaves of it is in the data folder, and goes with that.
    dynamic_shared_memory_type: "mmap",
    ...(durable ? {} : { max_wal_size: "256MB" }),
  };
}

function asOptions(options) {
  return Object.entries(options).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function installationFolders() {
  return [
    ...versionFolders("/usr/lib/postgresql"),
    ...versionFolders("/usr", "pgsql-"),
    ...versionFolders("/opt/homebrew/opt", "postgresql"),
    ...versionFolders("/usr/local/opt", "postgresql"),
  ];
}

// A start-up message of protocol 3.0; the server answers ReadyForQuery, or an error while it still recovers.
export async function acceptsQueries(port) {
  const body = Buffer.from("\0\x03\0\0user\0everstep\0database\0postgres\0\0", "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  const readyForQuery = Buffer.from("Z\0\0\0\x05I", "latin1");
  const greeting = Buffer.concat([length, body]);
  return (await converse({ port, greeting, enough: (heard) => heard.includes(readyForQuery) })) !== undefined;
}
