import { describe, expect, test } from "vitest";
import { completed, event, waiting } from "../../../../tests/support/sample-records.ts";
import type { SettledStep, StepRecord } from "../model/step.ts";
import { Body } from "./body.ts";
import { Call } from "./call.ts";
import { Draft } from "./draft.ts";
import { Durability } from "./durability.ts";
import { HandOver, mutationsFor, plain, type Settlement } from "./hand-over.ts";
import type { SettlementDraft } from "./settle.ts";

let started = 0;

function callOf(name: string, parent: Body | null = null, record?: StepRecord): Call {
  const spec = {
    type: "do",
    name,
    callback: null,
    options: null,
    wakeAt: null,
    durationMs: null,
    eventType: null,
    topic: null,
    onConsume: null,
  } as const;
  const call = new Call(spec, parent ? `${parent.call.key}/${name}` : name, 1, parent, record);
  call.index = record?.index ?? started++;
  return call;
}

function settlementOf(call: Call, facts: Partial<Settlement> = {}): Settlement {
  const { settledIndex: _, ...draft } = completed({ key: call.key, index: call.index as number });
  return {
    call,
    draft: draft as SettlementDraft,
    ...plain,
    ...facts,
  };
}

function mutating(call: Call): Body {
  const body = new Body(call, 1, 0);
  body.mutate(() => {});
  return body;
}

function begin(nextIndex = 0) {
  const draft = new Draft();
  const durability = new Durability();
  const handOver = new HandOver(draft, durability, nextIndex);
  let flushes = 0;
  const next = (): { key: string; place: number } | null => {
    const handed = handOver.next(() => flushes++);
    return handed && { key: handed.call.key, place: handed.record.settledIndex };
  };
  const commit = () => {
    const content = draft.take();
    return { ...content, keys: content.steps.map(({ key }) => key) };
  };
  /** Commits what is in the draft, as the turn does. */
  const durable = (): readonly string[] => {
    const { keys } = commit();
    durability.commit(durability.written);
    return keys;
  };
  return { draft, durability, handOver, next, commit, durable, flushes: () => flushes };
}

describe("new settlements", () => {
  test("are handed over in the order they finished, before their commit, each with its place", () => {
    const { durability, handOver, next, commit } = begin(4);
    for (const name of ["b", "a", "c"]) handOver.add(settlementOf(callOf(name)));
    expect([next(), next(), next(), next()]).toEqual([
      { key: "b", place: 4 },
      { key: "a", place: 5 },
      { key: "c", place: 6 },
      null,
    ]);
    expect(commit().keys).toEqual(["b", "a", "c"]);
    expect(durability.written).toBe(3);
  });

  test("may go at once only when nothing is before them", () => {
    const { handOver, next } = begin();
    expect(handOver.add(settlementOf(callOf("a")))).toBe(true);
    expect(handOver.add(settlementOf(callOf("b")))).toBe(false);
    next();
    next();
    handOver.owe(callOf("old", null, completed({ key: "old" })));
    expect(handOver.add(settlementOf(callOf("c")))).toBe(false);
  });

  test("get no place before their turn: commits are prefixes of the order", () => {
    const { handOver, next, commit } = begin();
    handOver.add(settlementOf(callOf("a")));
    handOver.add(settlementOf(callOf("b")));
    next();
    expect(commit().keys).toEqual(["a"]);
    next();
    expect(commit().keys).toEqual(["b"]);
  });

  test("take the event that ended them into the same commit", () => {
    const { handOver, next, commit } = begin();
    handOver.add(settlementOf(callOf("w"), { event: event({ seq: 9 }) }));
    next();
    expect(commit().consumed).toEqual([{ seq: 9, stepKey: "w" }]);
  });
});

describe("recorded settlements", () => {
  const owed = (key: string, settledIndex: number): Call =>
    callOf(key, null, completed({ key, settledIndex, index: settledIndex }));

  test("go first, in their recorded order, and are not written again", () => {
    const { handOver, next, commit } = begin(10);
    handOver.add(settlementOf(callOf("new")));
    for (const call of [owed("third", 7), owed("first", 2), owed("second", 5)]) handOver.owe(call);
    expect([next(), next(), next(), next()]).toEqual([
      { key: "first", place: 2 },
      { key: "second", place: 5 },
      { key: "third", place: 7 },
      { key: "new", place: 10 },
    ]);
    expect(commit().keys).toEqual(["new"]);
  });

  test("one asked for late takes its place among those still owed", () => {
    const { handOver, next } = begin(10);
    handOver.owe(owed("a", 1));
    handOver.owe(owed("c", 3));
    expect(next()?.key).toBe("a");
    handOver.owe(owed("b", 2));
    expect([next()?.key, next()?.key]).toEqual(["b", "c"]);
    expect(handOver.owes).toBe(false);
  });
});

describe("settlements a commit may refuse", () => {
  test("ask for a commit and are handed over once they are durable; those behind them wait", () => {
    const { handOver, next, durable, flushes } = begin();
    const call = callOf("order");
    handOver.add(settlementOf(call, { body: mutating(call), needsCommit: true }));
    handOver.add(settlementOf(callOf("behind")));
    expect(next()).toBeNull();
    expect(flushes()).toBe(1);
    expect(next()).toBeNull();
    expect(flushes()).toBe(1);
    expect(durable()).toEqual(["order"]);
    expect([next()?.key, next()?.key]).toEqual(["order", "behind"]);
  });

  test("one with mutations waits while a draft already has some", () => {
    const { handOver, next, draft, durable } = begin();
    draft.mutations({ serviceCalls: [], mutate: [] }, 0);
    const call = callOf("order");
    handOver.add(settlementOf(call, { body: mutating(call), needsCommit: true }));
    expect(next()).toBeNull();
    expect(durable()).toEqual([]);
    expect(next()).toBeNull();
    expect(durable()).toEqual(["order"]);
    expect(next()?.key).toBe("order");
  });

  test("refused mutations give the settlement back, its call as it was before", () => {
    const { handOver, next, commit } = begin();
    const before = waiting({ key: "order", type: "do", attempts: 1 });
    const call = callOf("order", null, before);
    const body = mutating(call);
    handOver.add(settlementOf(call, { body, needsCommit: true }));
    next();
    expect(commit().mutations?.mutate).toHaveLength(1);
    expect(handOver.withdrawMutated()).toMatchObject({ call, body });
    expect(call.record).toBe(before);
    expect(handOver.isEmpty).toBe(true);
    expect(handOver.withdrawMutated()).toBeNull();
  });

  test("refused timeouts give their calls back, waiting as before", () => {
    const { handOver, next, commit } = begin();
    const wait = waiting({ key: "w", type: "waitForEvent" });
    const call = callOf("w", null, wait);
    handOver.add(settlementOf(call, { timeout: wait, eventSeqSeen: 3, needsCommit: true }));
    next();
    expect(commit()).toMatchObject({ keys: [], timeouts: [{ wait }], timeoutsSaw: 3 });
    expect(handOver.withdrawTimeouts()).toEqual([call]);
    expect(call.record).toBe(wait);
    expect(handOver.isEmpty).toBe(true);
  });

  test("a timeout that has not been sent cannot be refused", () => {
    const { handOver } = begin();
    const wait = waiting({ key: "w", type: "waitForEvent" });
    handOver.add(settlementOf(callOf("a")));
    handOver.add(settlementOf(callOf("w", null, wait), { timeout: wait, needsCommit: true }));
    expect(handOver.withdrawTimeouts()).toEqual([]);
  });
});

describe("settlements inside a step", () => {
  test("are written at once and handed over when durable, not in the order of the others", () => {
    const { handOver, next, durable } = begin();
    const outer = new Body(callOf("outer"), 1, 0);
    expect(handOver.add(settlementOf(callOf("in", outer)))).toBe(false);
    expect(handOver.isEmpty).toBe(false);
    expect(next()).toBeNull();
    expect(handOver.nextInside()).toBeNull();
    expect(durable()).toEqual(["outer/in"]);
    expect(handOver.nextInside()?.call.key).toBe("outer/in");
    expect(handOver.nextInside()).toBeNull();
    expect(handOver.isEmpty).toBe(true);
  });

  test("that an earlier attempt recorded come first and in the order they were recorded in (INV-17)", () => {
    const { handOver, durable } = begin();
    const outer = new Body(callOf("outer"), 2, 0);
    handOver.add(settlementOf(callOf("new", outer)));
    handOver.owe(callOf("late", outer, completed({ key: "outer/late", settledIndex: 7 })));
    handOver.owe(callOf("early", outer, completed({ key: "outer/early", settledIndex: 3 })));
    durable();
    const order = [
      handOver.nextInside(),
      handOver.nextInside(),
      handOver.nextInside(),
      handOver.nextInside(),
    ];
    expect(order.map((next) => next?.call.key)).toEqual([
      "outer/early",
      "outer/late",
      "outer/new",
      undefined,
    ]);
  });

  test("come in one order, those whose commit could have been refused among the others (INV-17)", () => {
    const { handOver, next, durable } = begin();
    const outer = new Body(callOf("outer"), 1, 0);
    const writing = callOf("writing", outer);
    handOver.add(settlementOf(writing, { body: mutating(writing), needsCommit: true }));
    expect(next()).toBeNull();
    handOver.add(settlementOf(callOf("plain", outer)));
    expect(handOver.nextInside()).toBeNull();
    durable();
    expect(handOver.nextInside()?.call.key).toBe("outer/writing");
    expect(handOver.nextInside()?.call.key).toBe("outer/plain");
    expect(handOver.isEmpty).toBe(true);
  });

  test("of a body that is void are handed to nobody", () => {
    const { handOver } = begin();
    const outer = new Body(callOf("outer"), 2, 0);
    handOver.owe(callOf("in", outer, completed({ key: "outer/in", settledIndex: 3 })));
    outer.isVoid = true;
    expect(handOver.nextInside()).toBeNull();
  });
});

describe("at the end of a turn", () => {
  test("winding down writes what finished without handing it over, and gives timeouts back", () => {
    const { handOver, commit } = begin();
    const wait = waiting({ key: "w", type: "waitForEvent" });
    const waits = callOf("w", null, wait);
    handOver.add(settlementOf(callOf("a")));
    handOver.add(settlementOf(waits, { timeout: wait, needsCommit: true }));
    handOver.add(settlementOf(callOf("b")));
    expect(handOver.takeTimeouts()).toEqual([waits]);
    expect(waits.record).toBe(wait);
    expect(handOver.placeAll()).toBe(false);
    expect(commit()).toMatchObject({ keys: ["a", "b"], timeouts: [] });
  });

  test("winding down says so while something still waits for its commit", () => {
    const { handOver, durable } = begin();
    const calls = [callOf("a"), callOf("b")];
    for (const call of calls) handOver.add(settlementOf(call, { body: mutating(call), needsCommit: true }));
    expect(handOver.placeAll()).toBe(true);
    expect(durable()).toEqual([calls[0]?.key]);
    expect(handOver.placeAll()).toBe(true);
    expect(durable()).toEqual([calls[1]?.key]);
    expect(handOver.placeAll()).toBe(false);
  });

  test("what was written down while winding down is handed over afterwards, in that order and once", () => {
    const { handOver, next, durable } = begin(3);
    const order = callOf("order");
    handOver.add(settlementOf(callOf("a")));
    handOver.add(settlementOf(order, { body: mutating(order), needsCommit: true }));
    const other = callOf("other");
    handOver.add(settlementOf(other, { body: mutating(other), needsCommit: true }));
    handOver.add(settlementOf(callOf("b")));
    expect(handOver.placeAll()).toBe(true);
    // Nothing overtakes what has to wait for the next commit.
    expect(durable()).toEqual(["a", "order"]);
    expect([next(), next()]).toEqual([
      { key: "a", place: 3 },
      { key: "order", place: 4 },
    ]);
    expect(handOver.placeAll()).toBe(true);
    expect(next()).toBeNull();
    expect(durable()).toEqual(["other", "b"]);
    expect([next(), next(), next()]).toEqual([{ key: "other", place: 5 }, { key: "b", place: 6 }, null]);
  });

  test("writes that are refused are those of the commit, not of what waits to be handed over", () => {
    const { handOver, durable } = begin();
    const calls = [callOf("a"), callOf("b")];
    for (const call of calls) handOver.add(settlementOf(call, { body: mutating(call), needsCommit: true }));
    handOver.placeAll();
    durable();
    handOver.placeAll();
    expect(handOver.withdrawMutated()?.call.key).toBe("b");
    expect(handOver.withdrawMutated()).toBeNull();
  });

  test("the last commit takes what finished, in order, except what it could be refused for", () => {
    const { handOver, commit } = begin();
    const order = callOf("order");
    handOver.add(settlementOf(callOf("a")));
    handOver.add(settlementOf(order, { body: mutating(order), needsCommit: true }));
    handOver.add(settlementOf(callOf("b")));
    handOver.placeFinished();
    const { keys, mutations, steps } = commit();
    expect(keys).toEqual(["a", "b"]);
    expect(mutations).toBeNull();
    expect((steps as SettledStep[]).map(({ settledIndex }) => settledIndex)).toEqual([0, 1]);
  });
});

describe("what the author wants written with an outcome", () => {
  const body = new Body(callOf("a"), 1, 0);
  const [onSuccess, service, onFailure] = [() => {}, () => {}, () => {}];

  test("is nothing by default", () => {
    expect(mutationsFor(body, { status: "completed" })).toBeNull();
    expect(mutationsFor(body, { status: "errored" })).toBeNull();
  });

  test("depends on the outcome", () => {
    body.mutate(onSuccess);
    body.callService(service);
    body.mutateOnTerminalError(onFailure);
    expect(mutationsFor(body, { status: "completed" })).toEqual({
      serviceCalls: [service],
      mutate: [onSuccess],
    });
    expect(mutationsFor(body, { status: "errored" })).toEqual({ serviceCalls: [], mutate: [onFailure] });
  });

  test("other instances and events go along with success only", () => {
    const { handOver, next, commit } = begin();
    const child = { kind: "create", instanceId: "child" } as never;
    for (const status of ["completed", "errored"] as const) {
      const call = callOf(status);
      const own = new Body(call, 1, 0);
      own.send(child);
      const { draft } = settlementOf(call);
      handOver.add(settlementOf(call, { body: own, draft: { ...draft, status } as SettlementDraft }));
      next();
    }
    expect(commit().alongside).toEqual([child]);
  });
});
