// Talking to servers without their drivers.
import { connect, createServer } from "node:net";

export const loopback = "127.0.0.1";

// Below the ports that systems give to outgoing connections: while a server is down for a restart, one of those
// (even a client that tries to reach it) could take its place.
const lowest = 20_000;
const highest = 32_000;

/** A port nobody listens on just now. */
export async function freePort() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${lowest} and ${highest}`);
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}

/**
 * Connects, says `greeting`, and resolves to what came back as soon as it is `enough`; to undefined if that does not
 * happen.
 */
export function converse({ host = loopback, port, greeting = "", enough, patienceMs = 2000 }) {
  return new Promise((resolve) => {
    let heard = Buffer.alloc(0);
    const socket = connect({ host, port });
    const listen = (data) => {
      heard = Buffer.concat([heard, data]);
      if (enough(heard)) finish(heard);
    };
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(patienceMs, () => finish(undefined));
    socket.once("error", () => finish(undefined)).once("close", () => finish(undefined));
    socket.once("connect", () => socket.write(greeting)).on("data", listen);
  });
}

/** Whether anybody accepts connections there. */
export function accepts({ host, port, patienceMs = 2000 }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(patienceMs, () => finish(false));
    socket.once("error", () => finish(false)).once("connect", () => finish(true));
  });
}
