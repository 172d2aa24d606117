// PgBouncer, a pooler that hands out connections per transaction. It stands before a server that is there already, so
// tests start it themselves (`startPooler` in server.mjs) and it is only found here.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./binaries.mjs";
import { loopback } from "./ports.mjs";
import { acceptsQueries } from "./postgres.mjs";

export const pgbouncer = {
  name: "pgbouncer",
  title: "PgBouncer",
  variable: "EVERSTEP_PGBOUNCER",
  packages: ["pgbouncer"],
  accounts: ["postgres", "nobody"],
  signals: { clean: "SIGINT", throwAway: "SIGKILL" },
  isOnlyFound: true,

  findBinaries() {
    const program = process.env.EVERSTEP_PGBOUNCER || findProgram(["pgbouncer"]);
    return program && { program, server: program };
  },

  async createData() {},

  argv({ folder, port, target, settings }) {
    const file = join(folder, "pgbouncer.ini");
    writeFileSync(file, configuration({ port, target: new URL(target), settings }));
    return [file];
  },

  isReady: ({ port }) => acceptsQueries(port),

  url: (port, target) => {
    const url = new URL(target);
    url.hostname = loopback;
    url.port = String(port);
    return url.href;
  },
};

// Whoever gets through to it is logged in as the user of the URL.
function configuration({ port, target, settings }) {
  const { hostname, port: serverPort, username, password } = target;
  const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
  const server = `host=${hostname} port=${serverPort || 5432} user=${decodeURIComponent(username)}${secret}`;
  const options = {
    listen_addr: loopback,
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    max_client_conn: 500,
    default_pool_size: 20,
    ...settings,
  };
  const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
  return ["[databases]", `* = ${server}`, "[pgbouncer]", ...lines, ""].join("\n");
}
