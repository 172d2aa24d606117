/** Hints from other processes, on a connection of their own: one that listens can do nothing else. */
import type { Nudge, NudgeListener } from "../../../store/store.ts";
import { untilAborted } from "../../../store/until-aborted.ts";
import { Connection } from "./connection.ts";
import type { Session } from "./session.ts";

export interface Subscription {
  stop(): void;
  /** Asks on its connection; given up, and the listener told, once nobody waits any more. */
  probe(signal: AbortSignal): Promise<void>;
}

/** Resolves once it listens. */
export async function subscribe(session: Session, listener: NudgeListener): Promise<Subscription> {
  let isOver = false;
  const connection = new Connection(session.settings, session.nodes, "nudges", async (client) => {
    client.on("message", (_channel: string, message: string) => {
      const nudge = isOver ? undefined : readNudge(message, session.sender);
      if (nudge !== undefined) listener.onNudge(nudge);
    });
    await client.subscribe(session.channel);
  });
  const client = await connection.client();
  const lose = (reason: unknown): void => {
    if (isOver) return;
    isOver = true;
    listener.onLost(reason);
  };
  client.on("end", () => lose(new Error("The connection on which Redis sent nudges was closed.")));
  return {
    stop() {
      isOver = true;
      void connection.close();
    },
    async probe(signal) {
      try {
        // One that listens may not ask much else, and what it listens to already is no news.
        await untilAborted(client.subscribe(session.channel), signal);
      } catch (reason) {
        void connection.close();
        lose(reason);
        throw reason;
      }
    },
  };
}

/** Undefined for one of this store's own, and for nonsense. */
export function readNudge(message: string, self: string): Nudge | undefined {
  const [sender, kinds = ""] = message.split(" ");
  if (sender === self || kinds === "") return undefined;
  return { due: kinds.includes("d"), changed: kinds.includes("c"), ended: kinds.includes("e") };
}
