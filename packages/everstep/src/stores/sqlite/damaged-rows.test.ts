import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { watchedDriver } from "../../../../../tests/support/sqlite-place.ts";
import type { Claim } from "../../model/lease.ts";
import { claimIds, erased, instance, started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  errored,
  errorOut,
  sendEvent,
  sleeping,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { SqliteStore } from "./index.ts";
import { sqlite } from "./index.ts";

let store: SqliteStore;
let database: () => DatabaseSync;

beforeEach(async () => {
  const watched = watchedDriver();
  database = watched.database;
  store = sqlite({ path: ":memory:", driver: watched.driver });
  await store.migrate();
});
afterEach(() => store.close());

describe("one damaged run is unreadable, and no other", () => {
  const damages: readonly (readonly [string, string])[] = [
    ["bodies in flight that are no JSON", "UPDATE everstep_run SET begun = '[{' WHERE id = ?"],
    ["bodies in flight of another shape", "UPDATE everstep_run SET begun = '[1]' WHERE id = ?"],
    ["an unknown status of the run", "UPDATE everstep_run SET status = 'running' WHERE id = ?"],
    ["an unknown status of a step", "UPDATE everstep_step SET status = 'done' WHERE run = ?"],
    ["an unknown type of a step", "UPDATE everstep_step SET type = 'call' WHERE run = ?"],
    [
      "attempt errors that are no JSON",
      "UPDATE everstep_step SET errors = 'oops' WHERE run = ? AND step_index = 2",
    ],
    [
      "a step's error without a message",
      "UPDATE everstep_step SET error = '{}' WHERE run = ? AND step_index = 2",
    ],
    [
      "a completed step without a result",
      "UPDATE everstep_step SET result = NULL WHERE run = ? AND step_index = 1",
    ],
    ["a number beyond those of JavaScript", "UPDATE everstep_step SET max_attempts = 1 << 53 WHERE run = ?"],
    [
      "a wait that waits for nothing known",
      "UPDATE everstep_step SET waits_for = 'luck' WHERE run = ? AND step_index = 3",
    ],
  ];

  test.each(damages)("%s", async (_name, sql) => {
    const steps = [completed(1), errored(2), sleeping(3, at(500))];
    const bad = await suspended(store, "bad", steps, at(10));
    const good = await suspended(store, "good", steps, at(10));
    database().prepare(sql).run(bad.lease.runId);

    const histories = await store.readRuns(
      [bad, good].map(({ lease }) => ({ runId: lease.runId, steps: true, eventsAfter: 0 })),
    );
    expect(histories).toMatchObject([
      { kind: "unreadable", runId: bad.lease.runId, error: { code: "HISTORY_UNREADABLE" } },
      { kind: "history", runId: good.lease.runId, steps },
    ]);
    if (sql.includes("everstep_step")) {
      await expect(store.listSteps(bad.lease.runId, { limit: 10 })).rejects.toMatchObject({
        code: "HISTORY_UNREADABLE",
      });
    }
  });

  test("a damaged event", async () => {
    const { lease } = await started(store, "bad");
    await write(store, sendEvent("bad", "e1", "x"), at(1));
    database().exec("PRAGMA ignore_check_constraints = ON; UPDATE everstep_event SET payload = '' ");
    // Payloads are opaque to the store, so an empty one is still handed over as it is.
    expect(await store.readRuns([{ runId: lease.runId, steps: false, eventsAfter: 0 }])).toMatchObject([
      { kind: "history", events: [{ payload: { json: "" } }] },
    ]);
  });
});

describe("a damaged run does not get in the way of a claim", () => {
  test("it is handed out as one with a history, so that its reader learns of the damage", async () => {
    const claims = await claimsAfter("UPDATE everstep_run SET begun = 'x' WHERE instance = ?");
    expect(claims.map(({ instanceId, fresh, begun }) => [instanceId, fresh, begun])).toEqual([
      ["bad", false, []],
      ["good", true, []],
    ]);
    const [history] = await store.readRuns([
      { runId: claims[0]?.lease.runId as number, steps: true, eventsAfter: 0 },
    ]);
    expect(history).toMatchObject({ kind: "unreadable" });
    const lease = (claims[0] as Claim).lease;
    await write(store, commit(lease, boundary(1, { next: errorOut("unreadable", true) })), at(2));
    expect(await instance(store, "bad")).toMatchObject({ status: "errored", deadLetter: true });
  });

  test("it is left out when its instance is gone, and is not met again", async () => {
    const claims = await claimsAfter("DELETE FROM everstep_instance WHERE id = ?");
    expect(claims.map(({ instanceId }) => instanceId)).toEqual(["good"]);
    expect(await store.nextDueAt(["order"])).toBe(claims[0]?.lease.expiresAt);
  });

  test("it is left out when its numbers are beyond reading", async () => {
    const claims = await claimsAfter("UPDATE everstep_run SET token = 1 << 60 WHERE instance = ?");
    expect(claims.map(({ instanceId }) => instanceId)).toEqual(["good"]);
  });

  test("an unknown kind or status is healed by the claim", async () => {
    const claims = await claimsAfter("UPDATE everstep_run SET kind = '?', status = '?' WHERE instance = ?");
    expect(claims.map(({ instanceId }) => instanceId)).toEqual(["bad", "good"]);
    expect((await instance(store, "bad")).status).toBe("active");
  });

  async function claimsAfter(damage: string): Promise<readonly Claim[]> {
    const bad = await write(store, create("bad"));
    await write(store, create("good"));
    if (bad.kind !== "created") throw new Error("not created");
    database()
      .prepare(damage)
      .run(bad.runId as number);
    return store.claim(claimRequest({ now: at(1) }));
  }
});

test("a damaged instance can still be looked at, listed, terminated and removed", async () => {
  const { lease } = await started(store, "bad");
  await write(store, commit(lease, boundary(1, { next: errorOut("e") })), at(1));
  await write(store, create("good"));
  database().exec(
    "UPDATE everstep_ending SET error = '{', reason = '['; UPDATE everstep_run SET begun = '{' WHERE id = 1",
  );
  expect(await instance(store, "bad")).toMatchObject({
    status: "errored",
    error: { code: "HISTORY_UNREADABLE" },
    terminationReason: null,
    begun: [],
  });
  expect((await store.listInstances({ limit: 10 })).items.map(({ instanceId }) => instanceId).sort()).toEqual(
    ["bad", "good"],
  );
  expect(await erased(store, { workflowName: "order", instanceId: "bad" })).toBe(true);
  expect((await write(store, terminate("good"), at(2))).kind).toBe("changed");
  expect(await claimIds(store, at(3))).toEqual([]);
});
