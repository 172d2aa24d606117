import { describe, expect, onTestFinished, test } from "vitest";
import { StoreError } from "../../../model/error.ts";
import { claimRequest } from "../../../testing/store-contract/given.ts";
import type { Dialect } from "../dialect.ts";
import type { SqlRow } from "../rows/row.ts";
import type { Database } from "../session.ts";
import { claims } from "./claim.ts";

const failure = new StoreError("unavailable", "STORE_UNAVAILABLE", "gone");

/** A store whose rounds go like this, one after the other. */
/** Moves damaged runs aside, or fails to. */
let moveAside: () => Promise<unknown> = () => Promise.reject(failure);

function claimsOf(...rounds: (readonly SqlRow[] | StoreError)[]) {
  const dialect = {
    update: () => () => ({ sql: "", values: [] }),
    async claim() {
      const round = rounds.shift();
      if (round === undefined || round instanceof StoreError) throw round ?? new Error("One round too many.");
      return round;
    },
  };
  const database = { run: () => moveAside() };
  return claims(database as unknown as Database, dialect as unknown as Dialect);
}

const sound = {
  ...{
    run: 7,
    run_number: 1,
    token: 1,
    last_commit: 0,
    ran_out: 0,
    crash_count: 0,
    started_at: 1,
    recorded: 0,
    event_seq: 0,
    begun: null,
  },
  ...{ waiting_since: null, workflow: "order", instance_id: "a", created_at: 1, deadline_at: null },
  ...{ params: "1", params_marks: null },
};
const damaged = { ...sound, workflow: null };
const request = claimRequest({ now: 1, limit: 5 });

describe("a claim in several rounds", () => {
  test("looks on as long as runs were damaged", async () => {
    moveAside = () => Promise.resolve([]);
    onTestFinished(() => {
      moveAside = () => Promise.reject(failure);
    });
    const claim = claimsOf([damaged, sound], [{ ...sound, run: 8 }]);
    expect((await claim(request)).map(({ lease }) => lease.runId)).toEqual([7, 8]);
  });

  test("hands out what it has taken, also when looking for more fails", async () => {
    const claim = claimsOf([damaged, sound], failure);
    expect((await claim(request)).map(({ lease }) => lease.runId)).toEqual([7]);
  });

  test("hands out what it has taken, also when damaged runs cannot be moved aside", async () => {
    const claim = claimsOf([damaged, sound]);
    expect((await claim(request)).map(({ lease }) => lease.runId)).toEqual([7]);
  });

  test("fails when it has taken nothing", async () => {
    await expect(claimsOf(failure)(request)).rejects.toBe(failure);
  });
});
