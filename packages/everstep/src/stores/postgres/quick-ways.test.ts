import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { StoreRequest } from "../../store/store.ts";
import { erased, started, suspended } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  logLine,
  never,
  pause,
  ref,
  restart,
  sendEvent,
  suspendUntil,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { PostgresClient } from "./driver.ts";
import type { PostgresStore } from "./index.ts";

/** What the statement that checks and writes at once must leave alone, and what it must not miss. */
describe.skipIf(postgresUrl === undefined)(
  "quick writes of PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    let store: PostgresStore;
    let namespace = "";
    beforeAll(async () => {
      store = place.open();
      await store.migrate();
      namespace = place.namespaceOf(store);
    });
    afterAll(async () => {
      await store.close();
      await place.clear();
    });

    const write = (...requests: StoreRequest[]) => store.write(requests, at(5));
    const stepsOf = async (lease: Lease): Promise<number> =>
      (await store.listSteps(lease.runId, { limit: 100 })).items.length;

    describe("of several commits in one write only those apply whose fence they pass", () => {
      const cases: Readonly<Record<string, (lease: Lease, id: string) => Promise<StoreRequest>>> = {
        "a paused run": async (lease, id) => {
          await write(pause(id));
          return commit(lease, boundary(1, { next: complete() }));
        },
        "a token that was superseded": async (lease) =>
          commit({ ...lease, token: lease.token - 1 }, boundary(1, { steps: [completed(1)] })),
        "a number that was applied": async (lease) => {
          const first = commit(lease, boundary(1));
          await write(first);
          return commit(lease, boundary(1, { steps: [completed(1)] }));
        },
        "a number that is too high": async (lease) => commit(lease, boundary(2, { steps: [completed(1)] })),
        "a run that has ended": async (lease, id) => {
          await write(terminate(id));
          return commit(lease, boundary(1, { steps: [completed(1)] }));
        },
        "a run that was restarted": async (lease, id) => {
          await write(restart(id));
          return commit(lease, boundary(1, { steps: [completed(1)] }));
        },
        "a wait whose event is there": async (lease, id) => {
          await write(sendEvent(id, `early ${id}`, "x"));
          return commit(
            lease,
            boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never), eventSeqSeen: 0 }),
          );
        },
      };
      const kinds: Readonly<Record<string, string>> = {
        "a paused run": "paused",
        "a number that was applied": "committed",
        "a wait whose event is there": "committed",
      };

      test.each(Object.keys(cases))("%s", async (name) => {
        const odd = await started(store, `odd ${name}`);
        const one = await started(store, `one ${name}`);
        const two = await started(store, `two ${name}`);
        const request = await cases[name]?.(odd.lease, `odd ${name}`);
        const step = boundary(1, { steps: [completed(1)] });
        const outcomes = await write(
          commit(one.lease, step),
          request as StoreRequest,
          commit(two.lease, step),
        );
        const expected = kinds[name] ?? "superseded";
        expect(outcomes.map(({ kind }) => kind)).toEqual(["committed", expected, "committed"]);
        expect([await stepsOf(one.lease), await stepsOf(two.lease)]).toEqual([1, 1]);
        const waits = name === "a wait whose event is there";
        expect(await stepsOf(odd.lease)).toBe(waits ? 1 : 0);
        if (waits) expect(outcomes[1]).toMatchObject({ dueNow: true, eventSeq: 1 });
        const { status } = (await store.getInstance(ref(`odd ${name}`))) ?? {};
        if (name === "a paused run") expect(status).toBe("paused");
      });
    });

    test("a commit of an instance that is not there any more is superseded", async () => {
      const { lease } = await started(store, "removed");
      await erased(store, ref("removed"));
      expect(await write(commit(lease, boundary(1, { steps: [completed(1)] })))).toEqual([
        { kind: "superseded" },
      ]);
      expect(await stepsOf(lease)).toBe(0);
    });

    test("a step that waited is replaced, one that settled is not, whatever its kind", async () => {
      const { lease } = await started(store, "again");
      await write(commit(lease, boundary(1, { steps: [awaiting(1, "x", never), completed(2)] })));
      const later = boundary(2, { steps: [completed(1, { name: "1", key: "1" })] });
      await write(commit(lease, later));
      await write(commit(lease, boundary(3, { steps: [completed(2, { attempts: 7 })] })));
      const { items } = await store.listSteps(lease.runId, { limit: 10 });
      expect(items.map(({ status, attempts }) => [status, attempts])).toEqual([
        ["completed", 1],
        ["completed", 1],
      ]);
    });

    test("waits that are open when a run ends are closed, beside steps that its last commit puts", async () => {
      const { lease } = await started(store, "waits");
      const steps = [awaiting(1, "x", never), awaiting(2, "x", never), awaiting(3, "x", never)];
      await write(commit(lease, boundary(1, { steps })));
      const last = [completed(1), awaiting(2, "y", never), completed(4)];
      await write(commit(lease, boundary(2, { steps: last, next: complete() })));
      const open = await place.query(
        `SELECT step_index FROM "${namespace}".step WHERE run = $1 AND is_open = 1`,
        [lease.runId],
      );
      expect(open).toEqual([]);
    });

    test("lines of a log are numbered on and come back letter by letter, of one commit and of many", async () => {
      const odd = 'nul \u0000, lone \ud800, quote " and \\, \u0001';
      const leases = [(await started(store, "l1")).lease, (await started(store, "l2")).lease];
      const logs = [logLine(odd), logLine("second")];
      await write(commit(leases[0] as Lease, boundary(1, { logs })));
      await write(
        commit(leases[0] as Lease, boundary(2, { logs })),
        commit(leases[1] as Lease, boundary(1, { logs: [logLine("other")] })),
      );
      const { items } = await store.listLogs((leases[0] as Lease).runId, { limit: 10 });
      expect(items.map(({ seq, message }) => [seq, message])).toEqual([
        [1, odd],
        [2, "second"],
        [3, odd],
        [4, "second"],
      ]);
    });

    test("names that are taken are reported, and the other instances are created", async () => {
      await write(create("taken"));
      const lease = { owner: "me", until: never };
      const [one, two, three] = await write(
        create("free 1", { lease }),
        create("taken", { lease }),
        create("free 2", { lease: { ...lease, until: never - 1 }, retentionMs: 5, deadlineAt: never }),
      );
      expect([one?.kind, two?.kind, three?.kind]).toEqual(["created", "exists", "created"]);
      expect(await store.getInstance(ref("free 1"))).toMatchObject({ dueAt: never, retentionMs: null });
      expect(await store.getInstance(ref("free 2"))).toMatchObject({
        dueAt: never - 1,
        retentionMs: 5,
        deadlineAt: never,
        executing: true,
      });
    });

    test("of events for many instances each is answered as if it had come alone", async () => {
      await suspended(store, "waits for x", [awaiting(1, "x", never)], never);
      await suspended(store, "waits for y", [awaiting(1, "y", never)], never);
      await suspended(store, "is paused", [awaiting(1, "x", never)], never);
      await write(pause("is paused"));
      const { lease } = await started(store, "is at work");
      await write(create("has ended"), terminate("has ended"));
      await write(sendEvent("is at work", "known", "x"));
      const outcomes = await write(
        ...["waits for x", "waits for y", "is paused", "has ended", "is nowhere"].map((id) =>
          sendEvent(id, `to ${id}`, "x"),
        ),
        sendEvent("is at work", "known", "x"),
      );
      expect(outcomes).toMatchObject([
        { kind: "accepted", woke: true, status: "waiting", duplicate: false },
        { kind: "accepted", woke: false, status: "waiting" },
        { kind: "accepted", woke: false, status: "paused" },
        { kind: "terminal", status: "terminated" },
        { kind: "not-found" },
        { kind: "accepted", duplicate: true, woke: false },
      ]);
      expect((await store.getInstance(ref("waits for x")))?.dueAt).toBe(at(5));
      expect((await store.getInstance(ref("waits for y")))?.dueAt).toBe(never);
      expect((await store.getInstance(ref("is paused")))?.dueAt).toBeNull();
      expect((await store.listEvents(lease.runId, { limit: 10 })).items).toHaveLength(1);
      const claimed = await store.claim(claimRequest({ now: at(5), limit: 100 }));
      expect(claimed.map(({ instanceId }) => instanceId)).toContain("waits for x");
    });

    test("an id that another instance has means nothing, and a full buffer takes none", async () => {
      await write(create("one"), create("two"));
      await write(sendEvent("one", "same", "x"));
      expect(await write(sendEvent("two", "same", "x"))).toMatchObject([
        { kind: "accepted", duplicate: false },
      ]);
      expect(await write(sendEvent("one", "more", "x", { bufferMax: 1 }))).toEqual([{ kind: "buffer-full" }]);
      const system = sendEvent("one", "system", "x", { bufferMax: 1, system: true });
      expect(await write(system)).toMatchObject([{ kind: "accepted", duplicate: false }]);
    });

    describe("while another transaction holds the run", () => {
      const isWaitedFor = async (): Promise<void> => {
        for (;;) {
          const [row] = await place.query(
            "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'everstep' " +
              "AND wait_event_type = 'Lock' AND query LIKE $1",
            [`%${namespace}%`],
          );
          if (row?.n !== 0) return;
        }
      };
      const holding = async (
        act: (client: PostgresClient) => Promise<unknown>,
        request: StoreRequest,
      ): Promise<unknown> => {
        const client = await place.client();
        try {
          await client.query("BEGIN");
          await act(client);
          const sent = write(request);
          await isWaitedFor();
          await client.query("COMMIT");
          return (await sent)[0];
        } finally {
          client.release();
        }
      };

      test("a wait that is registered meanwhile gets the event (INV-23)", async () => {
        const { lease } = await started(store, "meanwhile");
        const run = lease.runId;
        const outcome = await holding(
          async (client) => {
            await client.query(
              `UPDATE "${namespace}".run SET lane = 0, status = 'waiting', kind = 'wake', due_at = ${never},
               last_commit = 1, recorded = 1 WHERE id = ${run}`,
            );
            await client.query(
              `INSERT INTO "${namespace}".step (run, step_index, count, depth, created_at, attempts, starts, wake_at,
               is_open, key, name, type, status, event_type, waits_for)
             VALUES (${run}, 1, 1, 0, 0, 0, 0, ${never}, 1, 's', 's', 'waitForEvent', 'waiting', 'x', 'event')`,
            );
          },
          sendEvent("meanwhile", "in between", "x"),
        );
        expect(outcome).toMatchObject({ kind: "accepted", woke: true });
        expect((await store.getInstance(ref("meanwhile")))?.dueAt).toBe(at(5));
      });

      test("two events never get the same number", async () => {
        const { lease } = await started(store, "numbers");
        await holding(
          async (client) => {
            await client.query(`UPDATE "${namespace}".run SET event_seq = 1 WHERE id = ${lease.runId}`);
            await client.query(
              `INSERT INTO "${namespace}".event (run, seq, created_at, is_system, id, type, payload)
             VALUES (${lease.runId}, 1, 0, 0, 'first of numbers', 'x', '{}')`,
            );
          },
          sendEvent("numbers", "second of numbers", "x"),
        );
        const { items } = await store.listEvents(lease.runId, { limit: 10 });
        expect(items.map(({ seq, id }) => [seq, id])).toEqual([
          [1, "first of numbers"],
          [2, "second of numbers"],
        ]);
      });

      test("an event for a run that ends meanwhile is refused", async () => {
        const { lease } = await started(store, "ends");
        const outcome = await holding(
          (client) =>
            client.query(
              `UPDATE "${namespace}".run SET lane = NULL, status = 'terminated', token = token + 1 WHERE id = ${lease.runId}`,
            ),
          sendEvent("ends", "too late", "x"),
        );
        expect(outcome).toEqual({ kind: "terminal", status: "terminated" });
        expect((await store.listEvents(lease.runId, { limit: 10 })).items).toEqual([]);
      });
    });

    test("a creation whose id another run has already goes on with ids of another block", async () => {
      const { lease } = await started(store, "before the gap");
      const taken = Number(lease.runId) + 1;
      await place.query(
        `INSERT INTO "${namespace}".instance (id, workflow, instance_id, run, created_at, params)
         VALUES ($1, 'other', 'found again', $1, 0, '{}')`,
        [taken],
      );
      await expect(store.write([create("behind the gap")], at(1))).rejects.toMatchObject({
        code: "STORE_BUSY",
        retryable: true,
      });
      const [outcome] = await store.write([create("behind the gap")], at(1));
      expect(outcome).toMatchObject({ kind: "created" });
      expect((outcome as { runId: number }).runId).toBeGreaterThan(taken);
    });
  },
);
