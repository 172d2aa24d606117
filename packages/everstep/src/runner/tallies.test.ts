import { describe, expect, test } from "vitest";
import { completed, errored, waiting } from "../../../../tests/support/sample-records.ts";
import type { Boundary } from "../model/boundary.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { Tally } from "../store/store.ts";
import { Tallies } from "./tallies.ts";

const minute = 60_000;
const committed: CommitOutcome = { kind: "committed", eventSeq: 0, timeoutsRefused: false, dueNow: false };
const nothing = { complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 };

function boundary(facts: Partial<Boundary>): Boundary {
  const none = { steps: [], timeouts: [], consumed: [], logs: [], begun: [] };
  return { number: 1, eventSeqSeen: 0, next: { kind: "continue" }, ...none, ...facts };
}

/** What is counted of one commit. */
function countOf(facts: Partial<Boundary>, outcome: CommitOutcome = committed): Partial<Tally> {
  const tallies = new Tallies();
  tallies.count("w", boundary(facts), outcome, 5 * minute + 1);
  const [tally] = tallies.take();
  if (!tally) return {};
  expect([tally.minute, tally.workflowName]).toEqual([5 * minute, "w"]);
  return Object.fromEntries(
    Object.entries(tally).filter(([name, count]) => name in nothing && (count as number) > 0),
  );
}

describe("what is counted of a commit", () => {
  const retry = waiting({ key: "b", index: 1, waitsFor: "retry" });
  const timeout = {
    wait: waiting({ key: "e", type: "waitForEvent", waitsFor: "event" }),
    settled: errored({ key: "e", type: "waitForEvent", attempts: 0 }),
  };

  test("steps that settled, and attempts that failed", () => {
    expect(countOf({ steps: [completed({ key: "a" }), completed({ key: "b", index: 1 })] })).toEqual({
      steps: 2,
    });
    expect(countOf({ steps: [retry] })).toEqual({ failedAttempts: 1 });
    expect(countOf({ steps: [errored({ key: "a" })] })).toEqual({ steps: 1, failedAttempts: 1 });
    expect(countOf({ steps: [timeout.settled] })).toEqual({ steps: 1 });
    expect(countOf({ steps: [waiting({ key: "s", type: "sleep", waitsFor: "timer" })] })).toEqual({});
  });

  test("how a run ended", () => {
    expect(countOf({ next: { kind: "complete", output: { json: "1", marks: null } } })).toEqual({
      complete: 1,
    });
    const error = { name: "Error", message: "no" };
    expect(countOf({ next: { kind: "error", error, deadLetter: false } })).toEqual({ errored: 1 });
    expect(countOf({ next: { kind: "terminate", reason: "deadline" as never } })).toEqual({ terminated: 1 });
    expect(countOf({ next: { kind: "yield", dueAt: 0 } })).toEqual({});
  });

  test("timeouts, unless an event was there after all", () => {
    expect(countOf({ timeouts: [timeout] })).toEqual({ steps: 1 });
    expect(countOf({ timeouts: [timeout] }, { ...committed, timeoutsRefused: true })).toEqual({});
  });

  test("the steps but not the end of a run that was paused, and nothing that was not applied", () => {
    const end: Partial<Boundary> = {
      steps: [completed({ key: "a" })],
      next: { kind: "complete", output: { json: "1", marks: null } },
    };
    expect(countOf(end, { kind: "paused", eventSeq: 0, timeoutsRefused: false })).toEqual({ steps: 1 });
    expect(countOf(end, { kind: "superseded" })).toEqual({});
    expect(countOf(end, { kind: "mutation-failed", conflict: true, error: null })).toEqual({});
  });
});

describe("tallies", () => {
  const step = boundary({ steps: [completed({ key: "a" })] });
  const tally = (facts: Partial<Tally>): Tally => ({ minute: 0, workflowName: "w", ...nothing, ...facts });

  test("are kept by minute and workflow, and taken once", () => {
    const tallies = new Tallies();
    for (const at of [0, 59_999, 60_000]) tallies.count("w", step, committed, at);
    tallies.count("other", step, committed, 60_001);
    expect(tallies.take()).toEqual([
      tally({ steps: 2 }),
      tally({ minute, steps: 1 }),
      tally({ minute, workflowName: "other", steps: 1 }),
    ]);
    expect(tallies.take()).toEqual([]);
  });

  test("that were put back come again, together with what was counted since", () => {
    const tallies = new Tallies();
    tallies.count("w", step, committed, 1);
    const taken = tallies.take();
    tallies.count("w", step, committed, 2);
    tallies.putBack(taken);
    expect(tallies.take()).toEqual([tally({ steps: 2 })]);
  });

  test("fit a clock that is set back", () => {
    const tallies = new Tallies();
    for (const at of [minute, 0, minute]) tallies.count("w", step, committed, at);
    expect(tallies.take()).toEqual([tally({ steps: 1 }), tally({ minute, steps: 2 })]);
  });

  test("that nobody takes do not fill the memory: the oldest are forgotten", () => {
    const tallies = new Tallies();
    for (let n = 0; n < 5000; n++) tallies.count("w", step, committed, n * minute);
    const taken = tallies.take();
    expect(taken).toHaveLength(2000);
    expect(taken.at(-1)?.minute).toBe(4999 * minute);
  });
});
