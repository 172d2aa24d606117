import mysql2 from "mysql2";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { mysqlPlace, mysqlUrl, type TestConnection } from "../../../../../tests/support/mysql-place.ts";
import { erased } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  publish,
  ref,
  restart,
  sendEvent,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { MysqlStore } from "./index.ts";

const many = 20_000;
/** Far from the ids that the store gives out. */
const firstRun = 2 ** 48;

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  const prototype = (mysql2 as unknown as { Connection: { prototype: { query: () => void } } }).Connection
    .prototype;
  const { query } = prototype;
  let store: MysqlStore;
  /** The only one of the store. */
  let connection: unknown;
  let ns = "";
  let admin: TestConnection;

  /** The many rows: ended and sleeping runs, steps and events of theirs; a few that are due. */
  const fill = async (): Promise<void> => {
    const numbers = `WITH RECURSIVE digit (d) AS (SELECT 0 UNION ALL SELECT d + 1 FROM digit WHERE d < 9)
      SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM digit a, digit b, digit c, digit e, digit f`;
    const rows = `(SELECT n FROM (${numbers}) x WHERE n < ${many}) s`;
    const status =
      "CASE WHEN n % 10 < 6 THEN 'complete' WHEN n % 10 < 8 THEN 'waiting' WHEN n % 10 = 8 THEN 'errored' ELSE 'active' END";
    await admin.query(`INSERT INTO ${ns}_instance (id, workflow, instance_id, run, created_at, retention_ms, params)
      SELECT ${firstRun} + n, CONCAT('w', n % 5), CONCAT('i', n), ${firstRun} + n, n, 5, '1' FROM ${rows}`);
    await admin.query(`INSERT INTO ${ns}_run (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, token, event_seq,
        recorded, dead_letter, created_at, updated_at, prune_at)
      SELECT ${firstRun} + n, ${firstRun} + n, CONCAT('w', n % 5), 1, 1, ${status}, 'resume',
        CASE WHEN n % 10 < 6 OR n % 10 = 8 THEN NULL WHEN n % 10 < 8 THEN 0 ELSE 1 END,
        ${at(0)} + CASE WHEN n % 100 = 9 THEN 0 ELSE 1000000 + n END, 1, 1, 1, n % 1000 = 8, n, n,
        CASE WHEN n % 10 < 6 THEN ${at(0)} + n END FROM ${rows}`);
    await admin.query(`INSERT INTO ${ns}_step (run, step_index, \`key\`, name, count, type, status, is_open, depth, created_at, attempts,
        starts, topic, event_type, wake_at, waits_for)
      SELECT ${firstRun} + n, 1, 's', 's', 1, 'waitForEvent', 'waiting', n % 10 = 6, 0, 0, 0, 0, CONCAT('t', n % 500), 'x', 9e12, 'event' FROM ${rows}`);
    await admin.query(`INSERT INTO ${ns}_event (run, seq, id, type, is_system, created_at, payload)
      SELECT ${firstRun} + n, 1, CONCAT('ev', n), 'y', 0, 0, '1' FROM ${rows}`);
    await admin.query(`ANALYZE TABLE ${ns}_instance, ${ns}_run, ${ns}_step, ${ns}_event`);
  };

  beforeAll(async () => {
    await place.create();
    store = await place.open({ max: 1 });
    const sent = vi.spyOn(prototype, "query");
    await store.migrate();
    connection = sent.mock.contexts.at(-1);
    sent.mockRestore();
    ns = place.namespaceOf(store);
    admin = await place.connect();
    await fill();
  });
  afterAll(async () => {
    await admin.end();
    await store.close();
    await place.drop();
  });

  /** How many rows the server read for what `act` does, whatever the plan says. */
  const rowsRead = async (act: () => Promise<unknown>): Promise<number> => {
    const before = await readSoFar();
    await act();
    return (await readSoFar()) - before;
  };

  const readSoFar = async (): Promise<number> => {
    const rows = await new Promise<{ readonly Value: string }[]>((resolve, reject) => {
      const answer = (error: Error | null, found: unknown) =>
        error === null ? resolve(found as { Value: string }[]) : reject(error);
      Reflect.apply(query, connection, ["SHOW SESSION STATUS LIKE 'Handler_read%'", answer]);
    });
    return rows.reduce((total, { Value }) => total + Number(Value), 0);
  };

  const w = (name: string) => ({ workflows: [{ name, concurrency: null }] });

  test.each<[string, number, () => Promise<unknown>]>([
    [
      "a claim of ten out of many",
      400,
      () => store.claim(claimRequest({ now: at(1), limit: 10, ...w("w4") })),
    ],
    ["a claim when nothing is due", 60, () => store.claim(claimRequest({ now: at(1), ...w("w0") }))],
    [
      "a claim under a cap",
      400,
      () =>
        store.claim(claimRequest({ now: at(1), limit: 5, workflows: [{ name: "w4", concurrency: 1000 }] })),
    ],
    ["the next due time", 60, () => store.nextDueAt(["w0", "w1", "w2", "w3", "w4"])],
    [
      "a page of one workflow and status",
      100,
      () => store.listInstances({ limit: 10, workflowName: "w1", statuses: ["complete"] }),
    ],
    ["a page of one workflow", 250, () => store.listInstances({ limit: 10, workflowName: "w1" })],
    [
      "a page far inside",
      250,
      () => store.listInstances({ limit: 10, workflowName: "w1", after: "9000.109000" }),
    ],
    ["a page of everything", 1200, () => store.listInstances({ limit: 10 })],
    [
      "a page of dead letters",
      100,
      () => store.listInstances({ limit: 5, workflowName: "w3", deadLetter: true }),
    ],
    [
      "a page of what was created between two times",
      250,
      () => store.listInstances({ limit: 10, workflowName: "w1", createdFrom: 3000, createdBefore: 9000 }),
    ],
    [
      "nothing created between two times",
      100,
      () => store.listInstances({ limit: 10, workflowName: "w1", createdFrom: 9001, createdBefore: 9005 }),
    ],
    ["what is due first", 300, () => store.listDue({ before: at(0) + 9e9, limit: 10 })],
    ["waiters of a topic", 150, () => store.listWaiters("t6", { limit: 10 })],
    ["an instance by its name", 20, () => store.getInstance({ workflowName: "w1", instanceId: "i1001" })],
    ["all runs of an instance", 30, () => store.listRuns({ workflowName: "w1", instanceId: "i1001" }, 10)],
    [
      "histories of two runs",
      60,
      () =>
        store.readRuns([
          { runId: firstRun + 1, steps: true, eventsAfter: 0 },
          { runId: firstRun + 2, steps: true, eventsAfter: 0 },
        ]),
    ],
    [
      "an event for one run",
      60,
      () => store.write([sendEvent("i6", "new event", "x", { workflowName: "w1" })], at(1)),
    ],
    ["a publication", 800, () => store.write([publish("new publication", "t16")], at(1))],
    ["a creation", 40, () => store.write([create("new instance")], at(1))],
    ["a restart", 60, () => store.write([restart("new instance")], at(1))],
    ["pruning ten", 400, () => store.prune({ before: at(1000), limit: 10 })],
    ["removing one", 40, () => erased(store, ref("new instance"))],
  ])("%s reads a few rows of many, at most %i", async (_what, most, act) => {
    expect(await rowsRead(act)).toBeLessThan(most);
  });

  test("an id is looked for in steps, each of which looks at about 10,000 instances, and is found once", async () => {
    const wanted = ["i1999", ...Array.from({ length: 10 }, (_unused, n) => `i1999${n}`)];
    for (const order of ["asc", "desc"] as const) {
      const found: string[] = [];
      let after: string | undefined;
      let pages = 0;
      do {
        const read = await rowsRead(async () => {
          const page = await store.listInstances({
            ...{ limit: 3, idPrefix: "i1999", order },
            ...(after === undefined ? {} : { after }),
          });
          found.push(...page.items.map(({ instanceId }) => instanceId));
          after = page.after;
        });
        expect(read).toBeLessThan(35_000);
        pages += 1;
      } while (after !== undefined);
      expect(found).toEqual(order === "asc" ? wanted : wanted.toReversed());
      expect(pages).toBeGreaterThan(4);
    }
  });

  test("topics are found by one seek each, and only waits that are open are counted", async () => {
    for (const query of [{ limit: 500 }, { limit: 500, order: "desc" as const }]) {
      const read = await rowsRead(async () => {
        const { items, after } = await store.listTopics(query);
        expect([items.length, after]).toEqual([50, undefined]);
        expect(items.every(({ waiters }) => waiters === 40)).toBe(true);
      });
      // 500 topics were ever waited on, 20,000 waits in all; 2,000 of them are open.
      expect(read).toBeLessThan(8000);
    }
  });

  test("a commit reads its own run only (INV-47)", async () => {
    await store.write([create("mine", { workflowName: workflow })], at(1));
    const [claim] = await store.claim(claimRequest({ now: at(1) }));
    if (claim === undefined) throw new Error("should be claimed");
    const request = commit(claim.lease, boundary(1, { steps: [completed(1)], next: complete() }));
    expect(await rowsRead(() => store.write([request], at(2)))).toBeLessThan(40);
  });

  test("a creation whose id another run has already goes on with ids of another block", async () => {
    const [before] = await store.write([create("before the gap")], at(1));
    const taken = (before as { runId: number }).runId + 1;
    await admin.query(`INSERT INTO ${ns}_instance (id, workflow, instance_id, run, created_at, params)
      VALUES (${taken}, 'other', 'found again', ${taken}, 0, '{}')`);
    await expect(store.write([create("behind the gap")], at(1))).rejects.toMatchObject({
      code: "STORE_BUSY",
      retryable: true,
    });
    const [outcome] = await store.write([create("behind the gap")], at(1));
    expect(outcome).toMatchObject({ kind: "created" });
    expect((outcome as { runId: number }).runId).toBeGreaterThan(taken);
  });
});
