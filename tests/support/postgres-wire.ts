/** A wire between store and server that a test can count on and cut. */
import { createServer, connect as dial, type Server, type Socket } from "node:net";

export interface Wire {
  /** The same database, reached over the wire. */
  readonly url: string;
  /** How often the store has spoken since the server last did, over all connections: one round trip each. */
  readonly roundTrips: number;
  /** From now on the server's answers to what matches are lost and the connection with them. */
  loseAnswersTo(text: string): void;
  /** Ends all connections at once. */
  cut(): void;
  close(): Promise<void>;
}

export async function startWire(url: string): Promise<Wire> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  let lostAnswer: string | undefined;

  const server: Server = createServer((near) => {
    const far = dial(Number(target.port || 5432), target.hostname);
    let lastSpeaker: "near" | "far" = "far";
    let isLosing = false;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", () => {
        sockets.delete(socket);
        end();
      });
    }
    near.on("data", (data) => {
      if (lastSpeaker === "far") roundTrips += 1;
      lastSpeaker = "near";
      if (lostAnswer !== undefined && data.includes(lostAnswer)) isLosing = true;
      far.write(data);
    });
    far.on("data", (data) => {
      lastSpeaker = "far";
      if (isLosing) end();
      else near.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const wired = new URL(url);
  wired.hostname = "127.0.0.1";
  wired.port = String(typeof address === "object" && address !== null ? address.port : 0);

  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: wired.href,
    get roundTrips() {
      return roundTrips;
    },
    loseAnswersTo(text) {
      lostAnswer = text === "" ? undefined : text;
    },
    cut,
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
