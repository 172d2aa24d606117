import type { Claim } from "../../model/lease.ts";
import { suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue } from "./check.ts";
import { at, completed, never, sendEvent } from "./given.ts";

export const historyCases: readonly Case[] = [
  {
    name: "histories of many runs are read at once, each answered at its own place",
    async run({ open }) {
      const store = await open();
      const a = await suspended(store, "a", [completed(1)], never);
      const b = await suspended(store, "b", [completed(2), completed(5)], never);
      await store.write(
        [sendEvent("a", "e1", "x"), sendEvent("a", "e2", "x"), sendEvent("b", "e3", "x")],
        at(1),
      );
      const histories = await store.readRuns([
        { runId: b.lease.runId, steps: true, eventsAfter: 0 },
        { runId: a.lease.runId, steps: false, eventsAfter: 1 },
        { runId: a.lease.runId, steps: true, eventsAfter: 2 },
      ]);
      equal(
        histories.map((history) => {
          isTrue(history.kind === "history", "readable");
          return [history.runId, history.steps.map((s) => s.index), history.events.map((e) => e.id)];
        }),
        [
          [b.lease.runId, [2, 5], ["e3"]],
          [a.lease.runId, [], ["e2"]],
          [a.lease.runId, [1], []],
        ],
        "histories",
      );
    },
  },
  {
    name: "histories are read as far as so many bytes go, the first one always; the others are said to be unread",
    async run({ open }) {
      const store = await open();
      const runs: Claim[] = [];
      for (const id of ["a", "b", "c"]) {
        const result = { json: JSON.stringify("x".repeat(5000)), marks: null };
        runs.push(await suspended(store, id, [completed(1, { result }), completed(2)], never));
      }
      const reads = runs.map(({ lease: { runId } }) => ({ runId, steps: true, eventsAfter: 0 }));
      const kinds = async (maxBytes?: number): Promise<unknown> =>
        (await store.readRuns(reads, maxBytes)).map(({ runId, kind }) => [runId, kind]);
      const [a, b, c] = runs.map(({ lease }) => lease.runId);
      equal(
        await kinds(1),
        [
          [a, "history"],
          [b, "unread"],
          [c, "unread"],
        ],
        "one byte",
      );
      equal(
        await kinds(1_000_000),
        [
          [a, "history"],
          [b, "history"],
          [c, "history"],
        ],
        "room for all",
      );
      equal(
        await kinds(),
        [
          [a, "history"],
          [b, "history"],
          [c, "history"],
        ],
        "without a limit",
      );
      const [first] = await store.readRuns(reads, 1);
      isTrue(first?.kind === "history" && first.steps.length === 2, "the whole history of the first");
    },
  },
  {
    name: "events alone are read within so many bytes where no turn needs its steps",
    async run({ open }) {
      const store = await open();
      const runs: Claim[] = [];
      for (const id of ["a", "b"]) {
        runs.push(await suspended(store, id, [completed(1)], never));
        await write(store, sendEvent(id, `to ${id}`, "go"), at(1));
      }
      const reads = runs.map(({ lease: { runId } }) => ({ runId, steps: false, eventsAfter: 0 }));
      const found = await store.readRuns(reads, 1_000_000);
      equal(
        found.map((run) =>
          run.kind === "history" ? [run.steps.length, run.events.map(({ id }) => id)] : run.kind,
        ),
        [
          [0, ["to a"]],
          [0, ["to b"]],
        ],
        "histories",
      );
    },
  },
];
