import type { ChangeRequest } from "../../store/index.ts";
import { erased, instance, started, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  boundary,
  change,
  commit,
  create,
  errored,
  errorOut,
  never,
  pause,
  ref,
  restart,
  resume,
  sleeping,
  terminate,
} from "./given.ts";

const retry = (id: string): ChangeRequest =>
  change(
    id,
    { kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: at(50) },
    { statuses: ["errored"] },
  );

export const changeIdCases: readonly Case[] = [
  ...[pause, terminate, (id: string) => restart(id)].map(
    (make): Case => ({
      name: `${make("a").change.kind} made twice with one id is made once and answered alike (INV-42)`,
      async run({ open }) {
        const store = await open();
        await suspended(store, "a", [sleeping(1, never)], never);
        const request = make("a");
        const first = await write(store, request, at(10));
        const before = await instance(store, "a");
        equal(await write(store, request, at(20)), first, "the answer to the repeat");
        equal(await instance(store, "a"), before, "the instance");
      },
    }),
  ),
  {
    name: "retryStep made twice with one id is made once and answered alike (INV-42)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await write(store, commit(lease, boundary(1, { steps: [errored(1)], next: errorOut("x") })), at(1));
      const request = retry("a");
      const first = await write(store, request, at(10));
      const before = await instance(store, "a");
      equal(await write(store, request, at(20)), first, "the answer to the repeat");
      equal(await instance(store, "a"), before, "the instance");
    },
  },
  {
    name: "a repeat is recognised after other changes, and changes nothing of theirs",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const paused = pause("a");
      const first = await write(store, paused, at(10));
      await write(store, resume("a"), at(20));
      await write(store, restart("a"), at(30));
      equal(await write(store, paused, at(40)), first, "the answer to the repeat");
      matches(await instance(store, "a"), { status: "active", runNumber: 2 }, "the instance");
    },
  },
  {
    name: "a repeat within one write is made once",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const request = restart("a");
      const [first, second] = await store.write([request, request], at(10));
      equal(second, first, "both answers");
      equal((await instance(store, "a")).runNumber, 2, "runs");
    },
  },
  {
    name: "the same change with another id is another change",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await write(store, restart("a"), at(10));
      await write(store, restart("a"), at(20));
      equal((await instance(store, "a")).runNumber, 3, "runs");
    },
  },
  {
    name: "a refused change leaves no trace: tried again it is judged anew",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const request = resume("a");
      equal((await write(store, request, at(10))).kind, "refused", "while it is not paused");
      await write(store, pause("a"), at(20));
      equal((await write(store, request, at(30))).kind, "changed", "the outcome");
      equal((await instance(store, "a")).status, "active", "status");
    },
  },
  {
    name: "with a removed instance its changes are forgotten",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const request = terminate("a");
      await write(store, request, at(10));
      await erased(store, ref("a"));
      equal((await write(store, request, at(20))).kind, "not-found", "the outcome for a removed instance");
      await write(store, create("a"), at(30));
      await write(store, request, at(40));
      equal((await instance(store, "a")).status, "terminated", "status of the new instance");
    },
  },
];
