import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import {
  explained,
  type PlansClient,
  plansClient,
  RecordedStore,
  recording,
} from "../../../../../tests/support/postgres-recording.ts";
import type { Store, StoreRequest } from "../../store/store.ts";
import { erased } from "../../testing/store-contract/acts.ts";
import {
  abandon,
  at,
  awaiting,
  boundary,
  change,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  logLine,
  never,
  publish,
  ref,
  resume,
  sendEvent,
  suspendUntil,
  workflow,
} from "../../testing/store-contract/given.ts";
import { claims } from "../sql/lease/claim.ts";
import { leases } from "../sql/lease/leases.ts";
import type { Database, Statement } from "../sql/session.ts";
import { quickFirst } from "../sql/write/quick-write.ts";
import { runIds } from "../sql/write/run-ids.ts";
import { writes } from "../sql/write/write.ts";
import { postgresDialect } from "./dialect.ts";
import { readOptions } from "./options.ts";
import { PostgresDatabase } from "./session.ts";
import { mutations } from "./transactions.ts";

describe.skipIf(postgresUrl === undefined)(
  "plans of PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    const seen: Statement[] = [];
    const instancesMax = 40_000;
    let inner: PostgresDatabase;
    let database: Database;
    let store: Store;
    let recorded: RecordedStore;
    let client: PlansClient;
    let namespace = "";

    beforeAll(async () => {
      store = place.open();
      await store.migrate();
      namespace = place.namespaceOf(store);
      const settings = readOptions({ url: postgresUrl as string, namespace });
      inner = new PostgresDatabase(settings);
      database = recording(inner, seen);
      recorded = new RecordedStore(database, postgresDialect(namespace));
      client = await plansClient(place);
      await fill();
    });
    afterAll(async () => {
      client.release();
      await inner.close();
      await store.close();
      await place.clear();
    });

    /** Sleepers, finished ones past and before their retention, and starts that are not due; steps and events of all. */
    async function fill(): Promise<void> {
      const statements = [
        // The store gives out ids far from these.
        `UPDATE "${namespace}".meta SET value = value + ${2 ** 40} WHERE name = 'last_run'`,
        `INSERT INTO "${namespace}".instance (id, workflow, instance_id, run, created_at, retention_ms, params)
       SELECT n, CASE WHEN n % 4 = 0 THEN 'bill' ELSE 'order' END, 'old ' || n, n, ${at(0)} + n, 1000, '{}'
       FROM generate_series(1, ${instancesMax}) n`,
        `INSERT INTO "${namespace}".run (id, instance, created_at, due_at, token, last_commit, event_seq, log_seq,
         crash_count, run_number, updated_at, prune_at, lane, is_current, recorded, dead_letter, workflow, status, kind)
       SELECT i.id, i.id, i.created_at, ${never} + i.id, 1, 1, 1, 1, 0, 1, ${at(0)},
         CASE WHEN i.id % 2 = 0 THEN ${never} + i.id END, CASE WHEN i.id % 2 = 1 THEN 0 END, 1, 1, 0, i.workflow,
         CASE WHEN i.id % 2 = 0 THEN 'complete' ELSE 'waiting' END, 'wake'
       FROM "${namespace}".instance i`,
        `INSERT INTO "${namespace}".step (run, step_index, count, depth, created_at, attempts, starts, wake_at, is_open,
         settled_index, settled_at, result,
         key, name, type, status, topic, event_type, waits_for)
       SELECT r.id, k, 1, 0, ${at(0)}, 1, 1, ${never}, CASE WHEN k = 3 AND r.status = 'waiting' THEN 1 ELSE 0 END,
         k, ${at(1)}, '{}', 's' || k, 's', 'waitForEvent', CASE WHEN k = 3 THEN 'waiting' ELSE 'completed' END,
         CASE WHEN k = 3 THEN 'topic ' || r.id % 1000 END, 'x', 'event'
       FROM "${namespace}".run r, generate_series(1, 3) k`,
        `INSERT INTO "${namespace}".event (run, seq, created_at, delivered_at, is_system, id, type, payload)
       SELECT r.id, 1, ${at(0)}, ${at(1)}, 0, 'event ' || r.id, 'x', '{}' FROM "${namespace}".run r`,
        `INSERT INTO "${namespace}".log (run, seq, created_at, is_replay, level, category, message)
       SELECT r.id, 1, ${at(0)}, 0, 'info', 'workflow', 'hello' FROM "${namespace}".run r`,
        `INSERT INTO "${namespace}".ending (run, completed_at) SELECT r.id, ${at(1)} FROM "${namespace}".run r
       WHERE r.status = 'complete'`,
        `UPDATE "${namespace}".meta SET value = ${instancesMax} WHERE name = 'last_run'`,
        ...["instance", "run", "step", "event", "log", "ending"].map(
          (table) => `VACUUM ANALYZE "${namespace}".${table}`,
        ),
      ];
      for (const sql of statements) await place.query(sql);
    }

    /** As it is planned on a connection of the store: for any values. */
    async function planOf(statement: Statement): Promise<string> {
      const lines = await explained(client, statement.sql);
      return lines.map((row) => row["QUERY PLAN"]).join("\n");
    }

    /** Runs `act` and gives the plans of the statements it needed. */
    async function plansOf(act: () => Promise<unknown>): Promise<string[]> {
      seen.length = 0;
      await act();
      const explainable = seen.filter(({ sql }) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/.test(sql));
      expect(explainable.length).toBeGreaterThan(0);
      const plans: string[] = [];
      for (const statement of explainable) plans.push(await planOf(statement));
      return plans;
    }

    /** Every table is found through an index; those with a handful of rows may be read whole. */
    function expectIndexes(plans: readonly string[]): void {
      for (const plan of plans) {
        expect(plan).not.toMatch(/Seq Scan on (run|instance|step|event|log|ending)\b/);
      }
    }

    test("a claim reads the stretches of its index and looks its runs up by key", async () => {
      const claim = claims(database, postgresDialect(namespace));
      for (const concurrency of [null, 3]) {
        const plans = await plansOf(() =>
          claim(claimRequest({ now: at(10), workflows: [{ name: workflow, concurrency }], limit: 10 })),
        );
        expectIndexes(plans);
        expect(plans.at(-1)).toMatch(/Index Only Scan using run_claim/);
        expect(plans.at(-1)).not.toMatch(/Sort Key: r\.due_at/);
      }
    });

    test("every kind of write looks up what it needs by key", async () => {
      const dialect = postgresDialect(namespace);
      const ids = runIds(database, dialect);
      const write = writes(database, dialect, ids, mutations(readOptions(postgresUrl as string))).write;
      const lease = { runId: 1, token: 1, owner: "me", expiresAt: at(9) };
      const wait = boundary(2, { steps: [awaiting(4, "x", never)], next: suspendUntil(never) });
      const requests: StoreRequest[] = [
        create("new"),
        commit(lease, wait),
        sendEvent("old 7", "e1", "x"),
        publish("p1", "topic 5"),
        resume("old 9", true),
        change("old 2", {
          kind: "retryStep",
          reopen: null,
          drop: [2],
          releaseEventsOf: ["s1"],
          dueAt: at(9),
        }),
        change("old 11", { kind: "restart", history: [completed(1)] }),
        { kind: "wake", runId: 13, token: 1 },
      ];
      expectIndexes(await plansOf(() => write(requests, at(5))));
      expectIndexes(await plansOf(() => write([sendEvent("old 15", "e2", "x", { bufferMax: 1 })], at(5))));
    });

    test("an owner's runs are found among those at work, not among all", async () => {
      const dialect = postgresDialect(namespace);
      const { write } = writes(database, dialect, runIds(database, dialect), async () => {});
      const plans = await plansOf(() => write([abandon("nobody")], at(5)));
      expect(plans.join("\n")).toMatch(/Index (Only )?Scan using run_claim|Bitmap Index Scan on run_claim/);
    });

    test("the common batch is one statement over keys", async () => {
      const dialect = postgresDialect(namespace);
      const ids = runIds(database, dialect);
      const write = quickFirst(
        dialect.applyQuickly as NonNullable<typeof dialect.applyQuickly>,
        database,
        ids,
        () => {
          throw new Error("not the common kind");
        },
      );
      const leased = { owner: "me", until: never };
      const creations = ["q1", "q2"].map((id) => create(id, { lease: leased }));
      const { outcomes } = await write(creations, at(5));
      const plans = await plansOf(() =>
        write(
          outcomes.map((outcome) => {
            if (outcome.kind !== "created" || outcome.claim === null) throw new Error("not leased");
            const all = { steps: [completed(1)], logs: [logLine("x")], consumed: [{ seq: 1, stepKey: "s" }] };
            return commit(outcome.claim.lease, boundary(1, { ...all, next: complete() }));
          }),
          at(6),
        ),
      );
      expect(plans).toHaveLength(1);
      expectIndexes(plans);
    });

    test("leases are renewed and released by key", async () => {
      const { renew, release } = leases(database, postgresDialect(namespace));
      const given = [1, 3, 5].map((runId) => ({ runId, token: 1, owner: "me", expiresAt: at(9) }));
      expectIndexes(
        await plansOf(() =>
          renew(
            given.map((lease) => ({ lease, begun: [] })),
            at(99),
          ),
        ),
      );
      expectIndexes(await plansOf(() => release(given, at(9))));
    });

    test("what turns read is found by key", async () => {
      const requests = [1, 3, 5].map((runId) => ({ runId, steps: true, eventsAfter: 0 }));
      expectIndexes(await plansOf(() => recorded.readRuns(requests)));
      expectIndexes(await plansOf(() => recorded.readRuns(requests, 1000)));
    });

    test("lists are read from their place in an index, however many instances there are (INV-47, SEC-31)", async () => {
      const first = await recorded.listInstances({ limit: 25 });
      for (const query of [
        { limit: 25 },
        { limit: 25, after: first.after as string },
        { limit: 25, order: "asc" as const, workflowName: workflow },
        { limit: 25, statuses: ["complete" as const] },
        { limit: 25, deadLetter: true },
        { limit: 25, createdFrom: at(100), createdBefore: at(30_000) },
        { limit: 25, idPrefix: "old 777", workflowName: workflow, order: "asc" as const },
        { limit: 25, idPrefix: "old 777" },
      ]) {
        const plans = await plansOf(() => recorded.listInstances(query));
        expectIndexes(plans);
        for (const plan of plans) expect(plan).toMatch(/using (run_list|run_dead_letter)/);
      }
      expectIndexes(await plansOf(() => recorded.getInstance(ref("old 5"))));
      expectIndexes(await plansOf(() => recorded.getInstance(ref("old 5"), 2)));
      expectIndexes(await plansOf(() => recorded.listRuns(ref("old 5"), 10)));
      expectIndexes(await plansOf(() => recorded.getStatuses([ref("old 5"), ref("old 7")])));
      const due = await plansOf(() => recorded.nextDueAt([workflow, "bill"]));
      expectIndexes(due);
      expect(due[0]).toMatch(/Index Only Scan using run_claim/);
    });

    test("an id is looked for in steps, each of which looks at about 10,000 instances, and is found once", async () => {
      for (const order of ["asc", "desc"] as const) {
        const found: string[] = [];
        let after: string | undefined;
        let pages = 0;
        do {
          const page = await recorded.listInstances({
            ...{ limit: 3, idPrefix: "old 3999", order },
            ...(after === undefined ? {} : { after }),
          });
          found.push(...page.items.map(({ instanceId }) => instanceId));
          after = page.after;
          pages += 1;
        } while (after !== undefined);
        const ids = ["old 3999", ...Array.from({ length: 10 }, (_unused, n) => `old 3999${n}`)];
        expect(found).toEqual(order === "asc" ? ids : ids.toReversed());
        expect(pages).toBeGreaterThan(4);
      }
    });

    test("what is due is the beginning of a few stretches of the claim's index", async () => {
      const plans = await plansOf(() => recorded.listDue({ before: never + 1000, limit: 10 }));
      expectIndexes(plans);
      expect(plans[0]).toMatch(/Index Only Scan using run_claim/);
      expect(plans[0]).not.toMatch(/Sort Key: r\.due_at/);
    });

    test("topics that are waited on are one stretch of an index that has no others", async () => {
      for (const query of [{ limit: 10 }, { limit: 10, after: "topic:topic 5", order: "desc" as const }]) {
        const plans = await plansOf(() => recorded.listTopics(query));
        expectIndexes(plans);
        expect(plans[0]).toMatch(/Index Only Scan (Backward )?using step_topic/);
        expect(plans[0]).not.toMatch(/Sort|HashAggregate/);
      }
    });

    test("what belongs to a run, and who waits on a topic, is one stretch of an index", async () => {
      const query = { limit: 10, after: "1" };
      expectIndexes(await plansOf(() => recorded.listSteps(5, query)));
      expectIndexes(await plansOf(() => recorded.listEvents(5, query)));
      expectIndexes(await plansOf(() => recorded.listLogs(5, { ...query, level: "info", category: "x" })));
      const waiters = await plansOf(() => recorded.listWaiters("topic 5", { limit: 10, after: "5.1" }));
      expectIndexes(waiters);
      expect(waiters[0]).toMatch(/step_topic/);
    });

    test("what is past its retention is found through its index, and removed by key", async () => {
      const plans = await plansOf(() => recorded.prune({ before: never + 40, limit: 10 }));
      expectIndexes(plans);
      expect(plans[0]).toMatch(/run_prune/);
      expectIndexes(await plansOf(() => erased(recorded, ref("old 101"))));
    });
  },
);
