// Redis, or Valkey where only that is installed.
import { findProgram } from "./binaries.mjs";
import { converse, loopback } from "./ports.mjs";

export const redis = {
  name: "redis",
  title: "Redis",
  variable: "EVERSTEP_REDIS_URL",
  packages: ["redis-server"],
  accounts: ["redis", "nobody"],
  signals: { clean: "SIGTERM", throwAway: "SIGKILL" },

  findBinaries() {
    const server = findProgram(["redis-server", "valkey-server"]);
    return server && { server, "redis-server": server };
  },

  async createData() {},

  argv({ folder, port, durable }) {
    return asOptions({ port, bind: loopback, dir: folder, daemonize: "no", ...settings(durable) });
  },

  asOptions,

  async isReady({ port, pid }) {
    return (await pong(port))?.includes(`process_id:${pid}\r\n`) ?? false;
  },

  url: (port) => `redis://${loopback}:${port}/0`,

  docker: {
    image: "redis:7-alpine",
    port: 6379,
    environment: {},
    data: "/data",
    argv: (durable) => ["redis-server", ...asOptions(settings(durable))],
    isReady: async (port) => (await pong(port)) !== undefined,
  },
};

// The append-only file is written before a command is answered: a killed server loses nothing in either mode.
function settings(durable) {
  return {
    save: "",
    appendonly: "yes",
    appendfsync: durable ? "always" : "everysec",
    "maxmemory-policy": "noeviction",
  };
}

function asOptions(options) {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
}

// PING is refused until the data is loaded; INFO tells whose answer it is.
async function pong(port) {
  const enough = (heard) => heard.includes("process_id:") && heard.toString().endsWith("\r\n");
  const heard = await converse({ port, greeting: "PING\r\nINFO server\r\n", enough });
  return heard?.toString().startsWith("+PONG") ? heard : undefined;
}
