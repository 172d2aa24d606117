import mysql2 from "mysql2";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { mysqlPlace, mysqlUrl, type TestConnection } from "../../../../../tests/support/mysql-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { StoreRequest } from "../../store/store.ts";
import { erased } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  logLine,
  never,
  pause,
  ref,
  restart,
  resume,
  sendEvent,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { MysqlStore } from "./index.ts";

/** A row that is read by a statement that locks is locked, or waited for, whether it was meant or not. */
describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  const prototype = (mysql2 as unknown as { Connection: { prototype: { query: () => void } } }).Connection
    .prototype;
  let store: MysqlStore;
  let admin: TestConnection;
  beforeAll(async () => {
    await place.create();
    store = await place.open({ max: 1 });
    await store.migrate();
    admin = await place.connect();
  });
  afterAll(async () => {
    await admin.end();
    await store.close();
    await place.drop();
  });

  /** Tables that what `act` does would lock from end to end. */
  const lockedWhole = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    const sent = vi.spyOn(prototype, "query");
    await act();
    const calls = sent.mock.calls as unknown as [{ sql: string }][];
    const statements = calls.flatMap(([{ sql }]) =>
      sql.split("\n;\n").map((text) => text.replace(/;\s*$/, "")),
    );
    sent.mockRestore();
    const locking = statements.filter((text) => /^\s*(UPDATE|DELETE)\b|\bFOR UPDATE\b/.test(text));
    expect(locking).not.toEqual([]);
    const whole: string[] = [];
    for (const sql of locking) {
      const [plan] = await admin.query(`EXPLAIN ${sql}`);
      for (const { table, type } of plan as unknown as { table: string | null; type: string }[]) {
        if (table?.startsWith("<") === false && ["ALL", "index"].includes(type)) whole.push(sql);
      }
    }
    return whole;
  };

  // The server would rather read a table whole when it is small, or when much of it is asked for.
  test.each([
    [2, 4],
    [100, 300],
  ])("%i of %i runs: no statement locks more than it is about", async (size, total) => {
    const ids = Array.from({ length: total }, (_unused, n) => `${n} of ${total}`);
    const some = ids.slice(0, size);
    const lease = { owner: "runner", until: never };
    const made = await store.write(
      ids.map((id) => create(id, { retentionMs: 0, lease })),
      at(0),
    );
    const leases = made.flatMap((outcome) => {
      return outcome.kind === "created" && outcome.claim !== null ? [outcome.claim.lease] : [];
    });
    const held = leases.slice(0, size);
    const each = (of: (id: string) => StoreRequest) => () => store.write(some.map(of), at(1));
    const commits = (number: number, facts: Parameters<typeof boundary>[1]) => () =>
      store.write(
        held.map((each: Lease) => commit(each, boundary(number, facts))),
        at(1),
      );
    const acts = {
      wait: commits(1, { steps: [awaiting(1, "x", never), awaiting(2, "y", never)] }),
      event: each((id) => sendEvent(id, `event for ${id}`, "x")),
      consume: commits(2, {
        steps: [completed(1)],
        consumed: [{ seq: 1, stepKey: "k" }],
        logs: [logLine("got it")],
      }),
      renew: () =>
        store.renew(
          held.map((each) => ({ lease: each, begun: [] })),
          never + 1,
          at(1),
        ),
      pause: each((id) => pause(id)),
      resume: each((id) => resume(id, true)),
      release: () => store.release(held, at(1)),
      claim: () => store.claim(claimRequest({ now: at(2), limit: size })),
      restart: each((id) => restart(id)),
      terminate: each((id) => terminate(id)),
      prune: () => store.prune({ before: at(3), limit: size }),
      remove: () => erased(store, ref(ids.at(-1) as string)),
    };
    for (const [name, act] of Object.entries(acts))
      expect([name, ...(await lockedWhole(act))]).toEqual([name]);
  });
});
