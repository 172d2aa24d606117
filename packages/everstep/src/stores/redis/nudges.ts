/** Hints from other processes, on a connection of their own: one that listens can do nothing else. */
import type { Nudge, NudgeListener } from "../../store/store.ts";
import { Connection } from "./connection.ts";
import type { Session } from "./session.ts";

/** Resolves once it listens, with the way to stop. */
export async function subscribe(session: Session, listener: NudgeListener): Promise<() => void> {
  let isOver = false;
  const connection = new Connection(session.settings, session.nodes, "nudges", async (client) => {
    client.on("message", (_channel: string, message: string) => {
      const nudge = isOver ? undefined : readNudge(message, session.sender);
      if (nudge !== undefined) listener.onNudge(nudge);
    });
    await client.subscribe(session.channel);
  });
  const client = await connection.client();
  client.on("end", () => {
    if (isOver) return;
    isOver = true;
    listener.onLost(new Error("The connection on which Redis sent nudges was closed."));
  });
  return () => {
    isOver = true;
    void connection.close();
  };
}

/** Undefined for one of this store's own, and for nonsense. */
export function readNudge(message: string, self: string): Nudge | undefined {
  const [sender, kinds = ""] = message.split(" ");
  if (sender === self || kinds === "") return undefined;
  return { due: kinds.includes("d"), changed: kinds.includes("c"), ended: kinds.includes("e") };
}
