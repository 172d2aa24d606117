// MariaDB, or MySQL where only that is installed: one protocol, two ways to create the data.
import { chmodSync, existsSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, versionFolders } from "./binaries.mjs";
import { readOrEmpty } from "./folder.mjs";
import { converse, loopback } from "./ports.mjs";
import { execute } from "./processes.mjs";

export const mysql = {
  name: "mysql",
  title: "MariaDB",
  variable: "EVERSTEP_MYSQL_URL",
  packages: ["mariadb-server"],
  accounts: ["mysql", "nobody"],
  signals: { clean: "SIGTERM", throwAway: "SIGKILL" },

  findBinaries() {
    const server = findProgram(["mariadbd", "mysqld"], installationFolders());
    if (!server) return undefined;
    const place = dirname(realpathSync(server));
    const besides = ["", "../bin", "../scripts"].map((folder) => join(place, folder));
    const installer = findProgram(["mariadb-install-db", "mysql_install_db"], besides);
    const dump = findProgram(["mariadb-dump", "mysqldump"], besides);
    const galera = galeraFolders.map((folder) => join(folder, "libgalera_smm.so")).find(existsSync);
    return {
      server,
      mariadbd: server,
      ...(installer && { "mariadb-install-db": installer }),
      ...(dump && { "mariadb-dump": dump }),
      ...(galera && { galera }),
    };
  },

  async createData({ folder, binaries, execution }) {
    const where = ["--no-defaults", `--datadir=${join(folder, "data")}`];
    const isMariaDb = (await execute(binaries.server, ["--version"], execution)).includes("MariaDB");
    if (!isMariaDb) await execute(binaries.server, [...where, "--initialize-insecure"], execution);
    else if (!binaries["mariadb-install-db"]) throw new Error("mariadb-install-db is missing");
    else await execute(binaries["mariadb-install-db"], [...where, ...installOptions], execution);
    writeFileSync(join(folder, "accounts.sql"), accounts);
    chmodSync(join(folder, "accounts.sql"), 0o644); // whatever our umask, the server must read it
  },

  argv({ folder, port, durable }) {
    return [
      "--no-defaults",
      `--datadir=${join(folder, "data")}`,
      `--port=${port}`,
      `--bind-address=${loopback}`,
      `--pid-file=${pidFile(folder)}`,
      `--init-file=${join(folder, "accounts.sql")}`,
      `--tmpdir=${folder}`,
      "--socket=mysql.sock", // inside the data folder; a whole path may be too long for a socket
      ...settings(durable),
    ];
  },

  asOptions: (options) => Object.entries(options).map(([name, value]) => `--${name}=${value}`),

  // The server writes its pid file when it has the port, and greets when it has run the init file.
  async isReady({ folder, port, pid }) {
    return Number(readOrEmpty(pidFile(folder))) === pid && (await greets(port));
  },

  url: (port) => `mysql://everstep@${loopback}:${port}/everstep`,

  docker: {
    image: "mariadb:11.4",
    port: 3306,
    environment: {
      MARIADB_ALLOW_EMPTY_ROOT_PASSWORD: "1",
      MARIADB_DATABASE: "everstep",
      MARIADB_ROOT_HOST: "%",
    },
    data: "/var/lib/mysql",
    argv: settings,
    isReady: greets,
    url: (port) => `mysql://root@${loopback}:${port}/everstep`,
  },
};

// Where Debian and others put the library that makes a cluster of MariaDB; Debian's server brings it along.
const galeraFolders = ["/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera"];

const installOptions = ["--auth-root-authentication-method=normal", "--skip-test-db"];

// Each server has its own, so a replica needs none from its primary.
const accounts = [
  "SET sql_log_bin = 0;",
  "CREATE DATABASE IF NOT EXISTS everstep;",
  "CREATE USER IF NOT EXISTS 'everstep'@'127.0.0.1' IDENTIFIED BY '';",
  "GRANT ALL ON *.* TO 'everstep'@'127.0.0.1' WITH GRANT OPTION;",
  "",
].join("\n");

// 2 hands each commit to the operating system without waiting for the disk: a killed server loses nothing, a lost
// machine does. (0 would lose the last second even then.) `loose` is for what only one of the two servers knows.
function settings(durable) {
  return [
    "--skip-name-resolve",
    "--character-set-server=utf8mb4",
    "--max-connections=200",
    "--loose-mysqlx=OFF",
    `--innodb-flush-log-at-trx-commit=${durable ? 1 : 2}`,
    ...(durable ? ["--sync-binlog=1"] : ["--skip-log-bin", "--innodb-buffer-pool-size=64M"]),
  ];
}

function installationFolders() {
  const homebrew = ["/opt/homebrew/opt", "/usr/local/opt"];
  return homebrew.flatMap((place) => [
    ...versionFolders(place, "mariadb"),
    ...versionFolders(place, "mysql"),
  ]);
}

function pidFile(folder) {
  return join(folder, "server.pid");
}

// The server speaks first: a packet header of four bytes, then the protocol version, or 255 for an error.
async function greets(port) {
  const heard = await converse({ port, enough: (data) => data.length > 4 });
  return heard?.[4] === 10;
}
