import { afterAll, describe, expect, test } from "vitest";
import type { Nudge } from "../../store/store.ts";
import { at, create, pause, value } from "../../testing/store-contract/given.ts";
import type { Statement } from "../sql/session.ts";
import { nobody, nudgeText, readNudge } from "./nudge-text.ts";
import { nudges } from "./nudges.ts";
import { readOptions } from "./options.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { postgresPlace, postgresUrl } from "./test-support.ts";
import { startWire } from "./test-wire.ts";

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
