import { describe, expect, test } from "vitest";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Applied } from "./applied.ts";
import { Budgets } from "./budgets.ts";

const member = { number: 1 } as Member;

describe("a process that asks for more runs", () => {
  test("has too much once it has the history of a run that is larger than its memory", () => {
    const { read, ask } = world();
    read({ isAnswered: true });
    expect(ask()).toMatchObject([{ invariant: "INV-48" }]);
  });

  test("does not know how large a history is that is on its way", () => {
    const { read, ask } = world();
    read({ isAnswered: false });
    expect(ask()).toEqual([]);
  });

  test("has nothing of a run any more that it had before and is about to get again", () => {
    const { read, claim, ask } = world();
    read({ isAnswered: true });
    claim();
    expect(ask()).toEqual([]);
  });

  test("has nothing of a history that it was not given, nor of a run that it gives back", () => {
    const { read, giveBack, ask } = world();
    read({ isAnswered: true, kind: "unread" });
    expect(ask()).toEqual([]);
    read({ isAnswered: true });
    giveBack();
    expect(ask()).toEqual([]);
  });
});

/** Run 7 is in the hands of a process that has memory for a part of it. */
function world() {
  const step = {
    key: "large",
    errors: [],
    status: "completed",
    result: { json: `"${"x".repeat(2000)}"`, marks: null },
  };
  const last = { key: "last", errors: [], status: "completed", result: { json: "1", marks: null } };
  const factsOf = (...steps: readonly object[]): RunFacts =>
    ({ record: { runId: 7, executing: true }, steps }) as unknown as RunFacts;
  const facts = factsOf(step, last);
  const budgets = new Budgets({
    leases: { holderOf: () => member } as unknown as Leases,
    facts: new Map([["w/a/1", facts]]),
    maxMemoryBytes: 1000,
  });
  const apply = (call: object, answer: unknown, runs: Applied["runs"] = []): void => {
    const applied = { member, call, answer, written: [], runs } as unknown as Applied;
    expect([...budgets.applied(applied)]).toEqual([]);
  };
  const called = (call: object): readonly Finding[] => [...budgets.called(member, call as StoreCall)];
  apply({ method: "write" }, [], [{ before: factsOf(step), after: facts }]);
  return {
    read({ isAnswered, kind = "history" }: { readonly isAnswered: boolean; readonly kind?: string }): void {
      const call = { method: "readRuns", args: [[{ runId: 7, steps: true, eventsAfter: 0 }], 1000] };
      const answer = [{ kind, runId: 7, steps: facts.steps, events: [] }];
      apply(call, answer);
      if (isAnswered) budgets.answered(member, call as unknown as StoreCall, answer);
    },
    claim: () => apply({ method: "claim" }, [{ lease: { runId: 7, token: 2 } }]),
    giveBack: () => void called({ method: "release", args: [[{ runId: 7, token: 1 }], 0] }),
    ask: () => called({ method: "claim", args: [{ limit: 1 }] }),
  };
}
