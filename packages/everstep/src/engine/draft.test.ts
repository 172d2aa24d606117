import { describe, expect, test } from "vitest";
import { completed, errored, waiting } from "../../../../tests/support/sample-records.ts";
import type { LogLine } from "../model/log-line.ts";
import type { AlongsideRequest } from "../model/request.ts";
import { Draft } from "./draft.ts";

const line = (message: string): LogLine => ({
  stepKey: null,
  attempt: null,
  level: "info",
  category: "workflow",
  message,
  data: null,
  isReplay: false,
  createdAt: 0,
});
const wait = waiting({ key: "w", type: "waitForEvent", index: 9 });
const timedOut = { wait, settled: errored({ key: "w", type: "waitForEvent", index: 9 }) };
const child = { kind: "create", instanceId: "child" } as unknown as AlongsideRequest;
const other = { kind: "create", instanceId: "other" } as unknown as AlongsideRequest;
const write = { serviceCalls: [], mutate: [() => {}] };

describe("what a turn has not committed yet", () => {
  test("is empty without steps and timeouts; log lines alone ask for no commit", () => {
    const draft = new Draft();
    expect(draft.isEmpty).toBe(true);
    draft.log(line("hello"));
    expect([draft.isEmpty, draft.hasLogs]).toEqual([true, true]);
    draft.timeout(timedOut, 3);
    expect(draft.isEmpty).toBe(false);
  });

  test("is taken once, all of it", () => {
    const draft = new Draft();
    draft.step(completed({ key: "a" }));
    draft.timeout(timedOut, 3);
    draft.consume({ seq: 1, stepKey: "a" });
    draft.log(line("hello"));
    draft.alongside([child]);
    draft.mutations(write, 0);
    expect(draft.take()).toEqual({
      steps: [completed({ key: "a" })],
      timeouts: [timedOut],
      timeoutsSaw: 3,
      consumed: [{ seq: 1, stepKey: "a" }],
      logs: [line("hello")],
      alongside: [child],
      mutations: write,
      mutated: 0,
    });
    expect(draft.take()).toEqual({
      steps: [],
      timeouts: [],
      timeoutsSaw: Number.POSITIVE_INFINITY,
      consumed: [],
      logs: [],
      alongside: [],
      mutations: null,
      mutated: null,
    });
  });

  test("writes a step that changes twice once, in the place of its first change", () => {
    const draft = new Draft();
    draft.step(waiting({ key: "a", index: 0 }));
    draft.step(waiting({ key: "b", index: 1 }));
    draft.step(completed({ key: "a", index: 0 }));
    expect(draft.take().steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "a completed",
      "b waiting",
    ]);
  });

  test("remembers the least that was known when its timeouts were decided", () => {
    const draft = new Draft();
    draft.timeout(timedOut, 5);
    draft.timeout(timedOut, 2);
    draft.timeout(timedOut, 7);
    expect(draft.take().timeoutsSaw).toBe(2);
  });
});

describe("a commit refused for its mutations", () => {
  function refused() {
    const draft = new Draft();
    draft.step(completed({ key: "neighbour", index: 0 }));
    draft.step(completed({ key: "order", index: 1 }));
    draft.consume({ seq: 1, stepKey: "neighbour" });
    draft.consume({ seq: 2, stepKey: "order" });
    draft.log(line("first"));
    draft.alongside([other]);
    draft.alongside([child]);
    draft.timeout(timedOut, 4);
    draft.mutations(write, 0);
    return { draft, content: draft.take() };
  }
  const without = { index: 1, alongside: [child], event: 2 };

  test("leaves everything but the step they belong to owed", () => {
    const { draft, content } = refused();
    draft.putBack(content, without);
    expect(draft.take()).toEqual({
      steps: [completed({ key: "neighbour", index: 0 })],
      timeouts: [timedOut],
      timeoutsSaw: 4,
      consumed: [{ seq: 1, stepKey: "neighbour" }],
      logs: [line("first")],
      alongside: [other],
      mutations: null,
      mutated: null,
    });
  });

  test("goes before what became known meanwhile, and a step that changed since is written as it is now", () => {
    const { draft, content } = refused();
    draft.log(line("second"));
    draft.step(completed({ key: "later", index: 2 }));
    draft.step(errored({ key: "neighbour", index: 0 }));
    draft.putBack(content, without);
    const { steps, logs } = draft.take();
    expect(steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "neighbour errored",
      "later completed",
    ]);
    expect(logs.map(({ message }) => message)).toEqual(["first", "second"]);
  });

  test("does not lose the mutations of a step that finished meanwhile", () => {
    const { draft, content } = refused();
    const later = { serviceCalls: [], mutate: [() => {}] };
    draft.step(completed({ key: "later", index: 2 }));
    draft.mutations(later, 1);
    draft.putBack(content, without);
    expect(draft.take().mutations).toBe(later);
  });
});
