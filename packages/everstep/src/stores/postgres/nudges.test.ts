import { afterAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { startWire } from "../../../../../tests/support/postgres-wire.ts";
import type { Nudge } from "../../store/store.ts";
import { at, create, pause, value } from "../../testing/store-contract/given.ts";
import type { Statement } from "../sql/session.ts";
import type { PostgresStore } from "./index.ts";
import { channel, nobody, nudges, nudgeText, readNudge } from "./nudges.ts";
import { readOptions } from "./options.ts";

test("a nudge comes back as it was, and what is none is not taken for one", () => {
  const nudge = { due: true, changed: false, ended: true };
  expect(readNudge(nudgeText({ namespace: "everstep", sender: 12, nudge }))).toEqual({
    namespace: "everstep",
    sender: 12,
    nudge,
  });
  for (const text of ["", "hello", "everstep x d--", "everstep 1 xyz", "a 1 d-- more"]) {
    expect(readNudge(text)).toBeUndefined();
  }
});

test("its size does not depend on what happened", () => {
  const all = nudgeText({
    namespace: "a".repeat(31),
    sender: Number.MAX_SAFE_INTEGER,
    nudge: { due: true, changed: true, ended: true },
  });
  expect(all.length).toBeLessThan(64);
  expect(nobody).toBe(0);
});

test("a listener that hears nothing of itself is told why, and what goes on all the same", async () => {
  const asked: string[] = [];
  const client = {
    connect: async () => {},
    query: async () => ({ rows: [] }),
    end: async () => {},
    on: () => {},
  };
  const pooler = {
    single: async () => client,
    run: async ([statement]: readonly Statement[]) => {
      asked.push(statement?.sql ?? "");
      return [];
    },
  };
  const { subscribe } = nudges(pooler as never, readOptions("postgres://db/app"), async () => 1);
  await expect(subscribe({ onNudge() {}, onLost() {} })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(/pooler.*Polling goes on/s),
  });
  expect(asked.filter((sql) => sql.includes("pg_sleep")).length).toBeGreaterThan(5);
});

describe("of several connections, one after the other,", () => {
  /** A server that passes on every notification, and the connections it was asked for. */
  function stubServer() {
    const clients: ReturnType<typeof stubClient>[] = [];
    const stubClient = () => {
      const handlers = new Map<string, (told: unknown) => void>();
      let ends = 0;
      return {
        connect: async () => {},
        query: async () => ({ rows: [] }),
        end: async () => {
          ends += 1;
        },
        on: (event: string, handler: (told: unknown) => void) => void handlers.set(event, handler),
        emit: (event: string, told: unknown) => handlers.get(event)?.(told),
        ends: () => ends,
      };
    };
    const tell = (channel: unknown, payload: unknown): void => {
      for (const client of clients)
        if (client.ends() === 0) client.emit("notification", { channel, payload });
    };
    const database = {
      single: async () => {
        const client = stubClient();
        clients.push(client);
        return client;
      },
      run: async ([statement]: readonly Statement[]) => {
        if (statement?.sql.includes("pg_notify")) tell(...(statement.values as [unknown, unknown]));
        return [];
      },
    };
    const { subscribe, close } = nudges(database as never, readOptions("postgres://db/app"), async () => 1);
    const listen = async () => {
      const heard: Nudge[] = [];
      const lost: unknown[] = [];
      const stop = await subscribe({
        onNudge: (nudge) => void heard.push(nudge),
        onLost: (reason) => void lost.push(reason),
      });
      return { heard, lost, stop };
    };
    const nudge = (): void => tell(channel, nudgeText({ namespace: "everstep", sender: 2, nudge: all }));
    return { clients, listen, nudge, close };
  }
  const all: Nudge = { due: true, changed: true, ended: true };
  const late = Object.assign(new Error("read ETIMEDOUT"), { code: "ETIMEDOUT" });

  test("one that was replaced may fail late: the new one goes on", async () => {
    const { clients, listen, nudge } = stubServer();
    const first = await listen();
    first.stop();
    const second = await listen();
    clients[0]?.emit("error", late);
    expect([first.lost, second.lost]).toEqual([[], []]);
    nudge();
    expect(second.heard).toEqual([all]);
    second.stop();
    await Promise.resolve();
    expect(clients.map((client) => client.ends())).toEqual([1, 1]);
  });

  test("one that fails while the next is made does not stop it", async () => {
    const { clients, listen, nudge } = stubServer();
    const first = await listen();
    first.stop();
    const listening = listen();
    clients[0]?.emit("error", late);
    const second = await listening;
    nudge();
    expect([second.lost, second.heard]).toEqual([[], [all]]);
    second.stop();
    await Promise.resolve();
    expect(clients.map((client) => client.ends())).toEqual([1, 1]);
  });

  test("the current one is lost once, however often it fails, and ended", async () => {
    const { clients, listen } = stubServer();
    const { lost } = await listen();
    clients[0]?.emit("error", late);
    clients[0]?.emit("error", late);
    await Promise.resolve();
    expect(lost).toMatchObject([{ failure: "unavailable" }]);
    expect(clients[0]?.ends()).toBe(1);
  });

  test("whoever begins to listen while the last other one leaves gets a new one", async () => {
    const { clients, listen, nudge } = stubServer();
    const first = await listen();
    const listening = listen();
    first.stop();
    const second = await listening;
    nudge();
    expect(second.heard).toEqual([all]);
    expect(clients.map((client) => client.ends())).toEqual([1, 0]);
  });

  test("closing leaves none open, and whoever was about to listen is told", async () => {
    const { clients, listen, close } = stubServer();
    const listening = listen();
    await close();
    await expect(listening).rejects.toMatchObject({ code: "STORE_CLOSED" });
    expect(clients.every((client) => client.ends() === 1)).toBe(true);
  });
});

describe.skipIf(postgresUrl === undefined)(
  "nudges over PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    afterAll(() => place.clear());

    const pair = async (): Promise<[PostgresStore, PostgresStore]> => {
      const one = place.open();
      await one.migrate();
      return [one, place.reopen(one)];
    };
    const listenTo = async (store: PostgresStore) => {
      const heard: Nudge[] = [];
      const waiting: (() => void)[] = [];
      let lost: unknown;
      const stop = await store.subscribe({
        onNudge(nudge) {
          heard.push(nudge);
          for (const resolve of waiting.splice(0)) resolve();
        },
        onLost(reason) {
          lost = reason;
          for (const resolve of waiting.splice(0)) resolve();
        },
      });
      const next = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
      return { heard, stop, next, lost: () => lost };
    };

    test("a large payload does not travel with it (R-069)", async () => {
      const [one, two] = await pair();
      const { next, stop } = await listenTo(two);
      const told = next();
      await one.write([create("big", { params: value("x".repeat(1024 * 1024)) })], at(0));
      await told;
      stop();
      await Promise.all([one.close(), two.close()]);
    });

    test("a burst of writes is told in a few nudges, and the last one is not forgotten", async () => {
      const [one, two] = await pair();
      const { heard, next, stop } = await listenTo(two);
      const told = next();
      await Promise.all(Array.from({ length: 100 }, (_unused, n) => one.write([create(`i${n}`)], at(0))));
      await told;
      const sent = one.write([pause("i1")], at(1));
      while (!heard.some((nudge) => nudge.changed)) await next();
      await sent;
      expect(heard.length).toBeLessThan(60);
      stop();
      await Promise.all([one.close(), two.close()]);
    });

    test("another namespace in the same database hears nothing of it", async () => {
      const [one, two] = await pair();
      const stranger = place.open();
      await stranger.migrate();
      const other = await listenTo(stranger);
      const { next, stop } = await listenTo(two);
      const told = next();
      await one.write([create("a")], at(0));
      await told;
      expect(other.heard).toEqual([]);
      stop();
      other.stop();
      await Promise.all([one, two, stranger].map((store) => store.close()));
    });

    test("what a caller's transaction did is told when it commits, to its own process too, and not before", async () => {
      const [one, two] = await pair();
      const own = await listenTo(one);
      const other = await listenTo(two);
      const client = await place.client();
      const told = Promise.all([own.next(), other.next()]);
      await client.query("BEGIN");
      await one.writeWithin(client, [create("a")], at(0));
      await place.query("SELECT pg_sleep(0.05)");
      expect([own.heard, other.heard]).toEqual([[], []]);
      await client.query("COMMIT");
      await told;
      expect(own.heard).toMatchObject([{ due: true }]);
      client.release();
      await Promise.all([one.close(), two.close()]);
    });

    test("a listener whose connection broke is told so once, and may listen again", async () => {
      const wire = await startWire(postgresUrl as string);
      const one = place.open();
      await one.migrate();
      const two = place.reopen(one, { url: wire.url });
      const { next, lost, stop } = await listenTo(two);
      const told = next();
      wire.cut();
      await told;
      expect(lost()).toMatchObject({ failure: "unavailable" });
      stop();
      const again = await listenTo(two);
      const heard = again.next();
      await one.write([create("a")], at(0));
      await heard;
      expect(again.heard).toMatchObject([{ due: true }]);
      await Promise.all([one.close(), two.close()]);
      await wire.close();
    });

    test("closing ends all listening", async () => {
      const [one, two] = await pair();
      const { lost } = await listenTo(two);
      await two.close();
      expect(lost()).toBeUndefined();
      await expect(two.subscribe({ onNudge() {}, onLost() {} })).rejects.toMatchObject({
        code: "STORE_CLOSED",
      });
      await one.close();
    });
  },
);
