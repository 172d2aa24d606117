import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { claimIds, claimOne, erased, started, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  commit,
  completed,
  create,
  ref,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { MysqlStore } from "./index.ts";

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  let store: MysqlStore;
  beforeAll(place.create);
  afterAll(place.drop);
  beforeEach(async () => {
    store = await place.open();
    await store.migrate();
  });
  afterEach(() => store.close());

  const table = (name: string) => `${place.namespaceOf(store)}_${name}`;

  test("a run whose instance is gone is moved aside, and the others are handed out (LIV-7)", async () => {
    await store.write([create("a"), create("b")], at(0));
    await place.query(`DELETE FROM ${table("instance")} WHERE instance_id = 'a'`);
    expect(await claimIds(store, at(1))).toEqual(["b"]);
    const [row] = await place.query(`SELECT COUNT(*) AS due FROM ${table("run")} WHERE lane IN (0, 1)`);
    expect(row?.due).toBe(0);
  });

  test("a damaged list of bodies is no reason to keep a run from its turn, which is told what is wrong", async () => {
    const { lease } = await started(store, "a");
    await place.query(`UPDATE ${table("run")} SET begun = '{"not": "a list"' WHERE id = ${lease.runId}`);
    await store.release([lease], at(1));
    const claim = await claimOne(store, "a", at(2));
    expect(claim).toMatchObject({ fresh: false, begun: [] });
    const [history] = await store.readRuns([{ runId: lease.runId, steps: true, eventsAfter: 0 }]);
    expect(history).toMatchObject({ kind: "unreadable", error: { code: "HISTORY_UNREADABLE" } });
  });

  test("one damaged history keeps nobody else from theirs, and its instance can be ended and removed", async () => {
    const { lease: sound } = await started(store, "sound");
    const { lease: spoilt } = await started(store, "spoilt");
    for (const lease of [sound, spoilt]) {
      await write(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
    }
    await place.query(`UPDATE ${table("step")} SET status = 'dim' WHERE run = ${spoilt.runId}`);
    const read = [sound, spoilt].map(({ runId }) => ({ runId, steps: true, eventsAfter: 0 }));
    expect((await store.readRuns(read)).map(({ kind }) => kind)).toEqual(["history", "unreadable"]);
    expect((await write(store, terminate("spoilt"), at(2))).kind).toBe("changed");
    expect(await erased(store, ref("spoilt"))).toBe(true);
  });
});
