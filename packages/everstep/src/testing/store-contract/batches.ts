import { instance, started, stepsOf } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  never,
  pause,
  sendEvent,
  sleeping,
  suspendUntil,
} from "./given.ts";

export const batchCases: readonly Case[] = [
  {
    name: "one batch, many boundaries: a stale one in the middle harms none of its neighbours (INV-39, scenario 133)",
    async run({ open }) {
      const store = await open();
      const a = await started(store, "a");
      const b = await started(store, "b");
      const c = await started(store, "c");
      const outcomes = await store.write(
        [
          commit(a.lease, boundary(1, { steps: [completed(1)] })),
          commit({ ...b.lease, token: 99 }, boundary(1, { steps: [completed(1)] })),
          commit(c.lease, boundary(1, { steps: [completed(1)], next: complete() })),
          sendEvent("nobody", "e1", "x"),
          commit(a.lease, boundary(2, { steps: [completed(2)] })),
        ],
        at(1),
      );
      equal(
        outcomes.map((outcome) => outcome.kind),
        ["committed", "superseded", "committed", "not-found", "committed"],
        "outcomes",
      );
      equal((await stepsOf(store, a.lease.runId)).length, 2, "steps of a");
      equal((await stepsOf(store, b.lease.runId)).length, 0, "steps of b");
      equal((await instance(store, "c")).status, "complete", "status of c");
    },
  },
  {
    name: "requests of a batch take effect in their order",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const wait = sleeping(1, never, { type: "waitForEvent", waitsFor: "event", eventType: "x" });
      const outcomes = await store.write(
        [
          create("b"),
          sendEvent("b", "e1", "x"),
          sendEvent("a", "e2", "x"),
          commit(claim.lease, boundary(1, { steps: [wait], next: suspendUntil(never) })),
          pause("b"),
          sendEvent("b", "e3", "x"),
        ],
        at(1),
      );
      matches(
        outcomes[1],
        { kind: "accepted", status: "active" },
        "an event for the instance created before it",
      );
      matches(outcomes[3], { kind: "committed", dueNow: true, eventSeq: 1 }, "a suspend behind its event");
      matches(outcomes[5], { kind: "accepted", status: "paused" }, "an event behind a pause");
    },
  },
  {
    name: "an empty batch is answered with nothing",
    async run({ open }) {
      const store = await open();
      equal(await store.write([], at(0)), [], "outcomes");
    },
  },
];
