/**
 * Tells other processes what happened, and hears what they tell, over LISTEN and NOTIFY. All of it are hints: what fails
 * here fails quietly, and polling covers it.
 */
import { StoreError } from "../../model/error.ts";
import type { Nudge, NudgeListener } from "../../store/store.ts";
import { untilAborted } from "../../store/until-aborted.ts";
import { closedFailure } from "../sql/server/failures.ts";
import type { Session, Statement } from "../sql/session.ts";
import type { DriverClient } from "./driver.ts";
import { storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import type { PostgresDatabase } from "./session.ts";

export interface Nudges {
  /** After the commit. At most one is under way; what comes meanwhile is one more. */
  tell(nudge: Nudge): void;
  /** With the caller's commit. */
  tellWithin(session: Session, nudge: Nudge): Promise<void>;
  subscribe(listener: NudgeListener): Promise<() => void>;
  /** Asks on the connection that listens; given up once nobody waits any more. */
  probe(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How often the server waits a tenth of a second for the notification that a listener sends itself. */
const probesMax = 20;

/** `takeNumber` gives a number that no other process has. */
export function nudges(
  database: PostgresDatabase,
  settings: PostgresSettings,
  takeNumber: () => Promise<number>,
): Nudges {
  const { namespace, place } = settings;
  let numbering: Promise<number> | undefined;
  const ownNumber = (): Promise<number> => {
    numbering ??= takeNumber().catch((error) => {
      numbering = undefined;
      throw error;
    });
    return numbering;
  };

  let pending: Nudge | undefined;
  let isSending = false;
  const send = async (): Promise<void> => {
    isSending = true;
    try {
      while (pending !== undefined) {
        const nudge = pending;
        pending = undefined;
        await database.run([hint(nudgeText({ namespace, sender: await ownNumber(), nudge }))]);
      }
    } catch {
      pending = undefined;
    } finally {
      isSending = false;
    }
  };

  const listeners = new Set<NudgeListener>();
  /** The connection that listens. One that was hung up may still come up or fail, and concerns nobody then. */
  let ear: Promise<DriverClient> | undefined;
  let isClosed = false;

  const hear = (own: number, text: string): void => {
    const told = readNudge(text);
    if (told === undefined || told.namespace !== namespace || told.sender === own) return;
    for (const listener of listeners) listener.onNudge(told.nudge);
  };
  const hangUp = (): void => {
    const client = ear;
    ear = undefined;
    client?.then((each) => each.end()).catch(() => {});
  };
  const lose = (reason: unknown): void => {
    hangUp();
    const told = [...listeners];
    listeners.clear();
    for (const listener of told) listener.onLost(reason);
  };

  const listen = async (isCurrent: () => boolean): Promise<DriverClient> => {
    const own = await ownNumber();
    const client = await database.single();
    let onProbe: () => void = () => {};
    const probed = new Promise<void>((resolve) => {
      onProbe = resolve;
    });
    const probe = `${namespace} probe of ${own}`;
    client.on("notification", ({ channel: on, payload = "" }) => {
      if (on !== channel) return;
      if (payload === probe) onProbe();
      else if (isCurrent()) hear(own, payload);
    });
    client.on("error", (reason) => {
      if (isCurrent()) lose(storeFailure(reason, place, "before"));
    });
    try {
      await client.connect();
      await client.query({ text: `LISTEN ${channel}` });
      await requireProbe(database, probe, probed, place);
    } catch (error) {
      client.end().catch(() => {});
      throw storeFailure(error, place, "before");
    }
    return client;
  };
  const newEar = (): Promise<DriverClient> => {
    const mine: Promise<DriverClient> = listen(() => ear === mine).catch((error) => {
      if (ear === mine) ear = undefined;
      throw error;
    });
    return mine;
  };

  const subscribe = async (listener: NudgeListener): Promise<() => void> => {
    if (isClosed) throw closedFailure(place);
    ear ??= newEar();
    const mine = ear;
    await mine;
    // Hung up or lost meanwhile.
    if (ear !== mine) return subscribe(listener);
    listeners.add(listener);
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) hangUp();
    };
  };

  const probe = async (signal: AbortSignal): Promise<void> => {
    const mine = ear;
    const client = await mine;
    if (client === undefined) return;
    try {
      await untilAborted(client.query({ text: "SELECT 1" }), signal);
    } catch (error) {
      // It would say goodbye, and wait for ever.
      client.connection?.stream?.destroy?.();
      const reason = storeFailure(error, place, "before");
      if (ear === mine) lose(reason);
      throw reason;
    }
  };

  return {
    subscribe,
    probe,

    tell(nudge) {
      if (!nudge.due && !nudge.changed && !nudge.ended) return;
      pending = pending === undefined ? nudge : both(pending, nudge);
      if (!isSending) void send();
    },

    async tellWithin(session, nudge) {
      if (!nudge.due && !nudge.changed && !nudge.ended) return;
      await session.run([notification(nudgeText({ namespace, sender: nobody, nudge }))]);
    },

    async close() {
      isClosed = true;
      listeners.clear();
      hangUp();
    },
  };
}

function notification(text: string): Statement {
  return { sql: "SELECT pg_notify(?, ?)", values: [channel, text] };
}

/** A hint is not worth waiting for the disk. The setting ends with the statement. */
function hint(text: string): Statement {
  const sql = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, ?)";
  return { sql, values: [channel, text], isPlannedOnce: true };
}

function both(a: Nudge, b: Nudge): Nudge {
  return { due: a.due || b.due, changed: a.changed || b.changed, ended: a.ended || b.ended };
}

/**
 * Sends itself a notification from another connection. One that does not arrive is lost in a pooler that hands out
 * connections per transaction: nobody would ever hear anything there.
 */
async function requireProbe(
  database: PostgresDatabase,
  probe: string,
  probed: Promise<void>,
  place: string,
): Promise<void> {
  let hasArrived = false;
  const arrival = probed.then(() => {
    hasArrived = true;
  });
  await database.run([notification(probe)]);
  for (let n = 0; n < probesMax && !hasArrived; n += 1) {
    const seconds = n === 0 ? 0 : 0.1;
    await Promise.race([arrival, database.run([{ sql: `SELECT pg_sleep(${seconds})`, values: [] }])]);
  }
  if (hasArrived) return;
  throw new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `${place} does not pass on notifications: LISTEN needs a connection of its own, and a pooler that hands out ` +
      "connections per transaction has none. Polling goes on; for nudges connect to the server itself.",
  );
}

/** What one process tells the others: a short text of constant size on one fixed channel. */
export const channel = "everstep";

/** Nobody's number: what a caller's transaction tells is news to everybody, its own process included. */
export const nobody = 0;

interface Told {
  readonly namespace: string;
  readonly sender: number;
  readonly nudge: Nudge;
}

export function nudgeText({ namespace, sender, nudge }: Told): string {
  const kinds = `${nudge.due ? "d" : "-"}${nudge.changed ? "c" : "-"}${nudge.ended ? "e" : "-"}`;
  return `${namespace} ${sender} ${kinds}`;
}

/** Undefined for what is no nudge: others may use the channel too. */
export function readNudge(text: string): Told | undefined {
  const found = /^([a-z0-9_]+) (\d{1,16}) ([d-])([c-])([e-])$/.exec(text);
  if (found === null) return undefined;
  const [, namespace = "", sender, due, changed, ended] = found;
  const nudge = { due: due === "d", changed: changed === "c", ended: ended === "e" };
  return { namespace, sender: Number(sender), nudge };
}
