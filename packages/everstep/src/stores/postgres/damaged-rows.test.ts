import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import type { Claim } from "../../model/lease.ts";
import { erased, instance, started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  errored,
  errorOut,
  ref,
  sleeping,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { PostgresStore } from "./index.ts";

describe.skipIf(postgresUrl === undefined)(
  "damaged rows in PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    afterAll(() => place.clear());
    let store: PostgresStore;
    beforeEach(async () => {
      store = place.open();
      await store.migrate();
      return () => store.close();
    });
    const damage = (sql: string, ...values: unknown[]) =>
      place.query(sql.replaceAll("everstep.", `"${place.namespaceOf(store)}".`), values);

    test.each([
      ["bodies in flight that are no JSON", "UPDATE everstep.run SET begun = '[{' WHERE id = $1"],
      ["an unknown status of the run", "UPDATE everstep.run SET status = 'running' WHERE id = $1"],
      ["an unknown status of a step", "UPDATE everstep.step SET status = 'done' WHERE run = $1"],
      [
        "attempt errors that are no JSON",
        "UPDATE everstep.step SET errors = 'oops' WHERE run = $1 AND step_index = 2",
      ],
      [
        "a completed step without a result",
        "UPDATE everstep.step SET result = NULL WHERE run = $1 AND step_index = 1",
      ],
    ])("%s: that run is unreadable, and no other", async (_name, sql) => {
      const steps = [completed(1), errored(2), sleeping(3, at(500))];
      const bad = await suspended(store, "bad", steps, at(10));
      const good = await suspended(store, "good", steps, at(10));
      await damage(sql, bad.lease.runId);
      const histories = await store.readRuns(
        [bad, good].map(({ lease }) => ({ runId: lease.runId, steps: true, eventsAfter: 0 })),
      );
      expect(histories).toMatchObject([
        { kind: "unreadable", error: { code: "HISTORY_UNREADABLE" } },
        { kind: "history", steps },
      ]);
    });

    describe("a damaged run does not get in the way of a claim", () => {
      const claimsAfter = async (sql: string): Promise<readonly Claim[]> => {
        const bad = await write(store, create("bad"));
        await write(store, create("good"));
        if (bad.kind !== "created") throw new Error("not created");
        await damage(sql, bad.runId);
        return store.claim(claimRequest({ now: at(1) }));
      };

      test("it is handed out as one with a history, so that its reader learns of the damage", async () => {
        const claims = await claimsAfter("UPDATE everstep.run SET begun = 'x' WHERE instance = $1");
        expect(claims.map(({ instanceId, fresh }) => [instanceId, fresh])).toEqual([
          ["bad", false],
          ["good", true],
        ]);
        const { lease } = claims[0] as Claim;
        await write(store, commit(lease, boundary(1, { next: errorOut("unreadable", true) })), at(2));
        expect(await instance(store, "bad")).toMatchObject({ status: "errored", deadLetter: true });
      });

      test("it is left out when its instance is gone, and is not met again", async () => {
        const claims = await claimsAfter("DELETE FROM everstep.instance WHERE id = $1");
        expect(claims.map(({ instanceId }) => instanceId)).toEqual(["good"]);
        expect(await store.nextDueAt(["order"])).toBe(claims[0]?.lease.expiresAt);
      });

      test("it is left out when its numbers are beyond reading", async () => {
        const claims = await claimsAfter(
          "UPDATE everstep.run SET token = 1::bigint << 60 WHERE instance = $1",
        );
        expect(claims.map(({ instanceId }) => instanceId)).toEqual(["good"]);
      });
    });

    test("a damaged instance can still be looked at, listed, terminated and removed", async () => {
      const { lease } = await started(store, "bad");
      await write(store, commit(lease, boundary(1, { next: errorOut("e") })), at(1));
      await write(store, create("good"));
      await damage("UPDATE everstep.ending SET error = '{', reason = '['");
      await damage("UPDATE everstep.run SET begun = '{' WHERE id = $1", lease.runId);
      expect(await instance(store, "bad")).toMatchObject({
        status: "errored",
        error: { code: "HISTORY_UNREADABLE" },
        begun: [],
      });
      expect((await store.listInstances({ limit: 10 })).items).toHaveLength(2);
      expect(await erased(store, ref("bad"))).toBe(true);
      expect((await write(store, terminate("good"), at(2))).kind).toBe("changed");
    });
  },
);
