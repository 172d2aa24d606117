/**
 * Counts what goes over this process's connections. A round trip is a request that goes out after something came in:
 * what is sent together counts once. Nothing of the drivers is touched but the `write` of sockets.
 */
import { Socket } from "node:net";

export interface WireCounts {
  readonly roundTrips: number;
  /** What the messages sent ask for, where somebody said how to tell; otherwise 0. */
  readonly statements: number;
}

/** How many statements a message to the server holds. */
export type CountStatements = (message: Uint8Array) => number;

export interface Wire {
  /** The counts so far; the next call begins at zero. */
  take(): WireCounts;
}

type Write = (this: Socket, ...args: unknown[]) => boolean;

export function watchWire(countStatements: CountStatements | null): Wire {
  let counts = { roundTrips: 0, statements: 0 };
  const readBefore = new WeakMap<Socket, number>();
  const write = Socket.prototype.write as Write;
  const counting: Write = function (...args) {
    if (this.remoteAddress !== undefined) {
      if (readBefore.get(this) !== this.bytesRead) counts.roundTrips += 1;
      readBefore.set(this, this.bytesRead);
      const [chunk] = args;
      if (countStatements && chunk instanceof Uint8Array) counts.statements += countStatements(chunk);
    }
    return write.apply(this, args);
  };
  Socket.prototype.write = counting as Socket["write"];
  return {
    take() {
      const taken = counts;
      counts = { roundTrips: 0, statements: 0 };
      return taken;
    },
  };
}

const execute = "E".charCodeAt(0);
const query = "Q".charCodeAt(0);

/** Messages of PostgreSQL are a letter, four bytes of length, and that many bytes less four. */
export const postgresStatements: CountStatements = (bytes) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let found = 0;
  for (let at = 0; at + 5 <= bytes.length; at += 1 + view.getUint32(at + 1)) {
    if (bytes[at] === execute || bytes[at] === query) found += 1;
  }
  return found;
};
