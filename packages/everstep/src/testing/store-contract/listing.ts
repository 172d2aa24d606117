import type { InstanceQuery, Store } from "../../store/index.ts";
import { unreadValue } from "../../store/unread-value.ts";
import { committed, ended, erased, everyPage, instance, started, stepsOf, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, rejects } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  errorOut,
  logLine,
  never,
  pause,
  ref,
  restart,
  sendEvent,
  sleeping,
  terminate,
  workflow,
} from "./given.ts";

export const listingCases: readonly Case[] = [
  {
    name: "the status alone is that of the current run, and undefined for nobody",
    async run({ open }) {
      const store = await open();
      const status = async () => (await store.getStatuses([ref("a")]))[0];
      equal(await status(), undefined, "before it is created");
      await ended(store, "a", complete());
      equal(await status(), "complete", "when it ended");
      await write(store, restart("a"), at(5));
      equal(await status(), "active", "in its next run");
    },
  },
  {
    name: "statuses are answered in the order asked for, also of what is asked for twice or is not there",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await write(store, create("b"));
      await write(store, pause("b"), at(1));
      const asked = [ref("b"), ref("nobody"), ref("a"), ref("b"), ref("a", "other")];
      const expected = ["paused", undefined, "active", "paused", undefined];
      equal(await store.getStatuses(asked), expected, "statuses");
      equal(await store.getStatuses([]), [], "of nothing");
    },
  },
  {
    name: "many instances are read at once, each as if it were read alone, in the order asked for",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await ended(store, "b", complete());
      await write(store, restart("b"), at(5));
      await ended(store, "c", complete());
      const asked = [ref("b"), ref("nobody"), ref("a"), ref("c"), ref("b"), ref("a", "other")];
      const expected: unknown[] = [];
      for (const one of asked) expected.push(await store.getInstance(one));
      equal(await store.getInstances(asked), expected, "instances");
      equal(await store.getInstances([ref("a")]), [await store.getInstance(ref("a"))], "of one");
      equal(await store.getInstances([]), [], "of nothing");
    },
  },
  {
    name: "instances are listed by creation, newest first unless asked otherwise",
    async run({ open }) {
      const store = await open();
      for (const n of [2, 3, 1]) await write(store, create(`made at ${n}`, { createdAt: at(n) }));
      equal(await ids(store, {}), ["made at 3", "made at 2", "made at 1"], "by default");
      equal(await ids(store, { order: "desc" }), ["made at 3", "made at 2", "made at 1"], "newest first");
      equal(await ids(store, { order: "asc" }), ["made at 1", "made at 2", "made at 3"], "oldest first");
    },
  },
  {
    name: "pages of instances made in the same millisecond hold each exactly once, in both orders (INV-46, scenario 159)",
    async run({ open }) {
      const store = await open();
      const names = Array.from({ length: 23 }, (_unused, n) => `i${(n * 5) % 23}`);
      await store.write(
        names.map((id, n) => create(id, { createdAt: at(n < 20 ? 0 : 1) })),
        at(0),
      );
      for (const limit of [1, 4, 22, 23, 24]) {
        equal(await ids(store, { order: "asc" }, limit), names, `oldest first, pages of ${limit}`);
        equal(
          await ids(store, { order: "desc" }, limit),
          names.toReversed(),
          `newest first, pages of ${limit}`,
        );
      }
    },
  },
  {
    name: "a page says that there is more only when there is",
    async run({ open }) {
      const store = await open();
      await store.write([create("a"), create("b")], at(0));
      equal((await store.listInstances({ limit: 2 })).after, undefined, "after the last item");
      equal(typeof (await store.listInstances({ limit: 1 })).after, "string", "before the last item");
      equal(await store.listInstances({ limit: 5, workflowName: "unknown" }), { items: [] }, "an empty list");
    },
  },
  {
    name: "a listed instance is the one that is got by its id",
    async run({ open }) {
      const store = await open();
      await started(store, "leased");
      await suspended(store, "waiting", [sleeping(1, at(9))], at(9));
      await ended(store, "over", complete(), { retentionMs: 5 });
      await store.write([create("paused"), pause("paused")], at(1));
      const { items } = await store.listInstances({ limit: 10 });
      for (const item of items) equal(item, await instance(store, item.instanceId), item.instanceId);
      equal(items.length, 4, "instances");
    },
  },
  {
    name: "the mark of an instance is another after everything that was written of it, and the same otherwise",
    async run({ open }) {
      const store = await open();
      const { getMarks } = store;
      if (getMarks === undefined) return;
      const marks = () => getMarks.call(store, [ref("nobody"), ref("a"), ref("other")]);
      await store.write([create("other")], at(0));
      const [, , other] = await marks();
      const seen = new Set<string | undefined>([undefined]);
      const isNew = async (what: string) => {
        const [nobody, mark, same] = await marks();
        equal([nobody, same, seen.has(mark), (await marks())[1]], [undefined, other, false, mark], what);
        seen.add(mark);
      };
      const { lease } = await started(store, "a");
      await isNew("leased");
      await committed(store, commit(lease, boundary(1, { steps: [completed(1)] })));
      await isNew("a step");
      await committed(store, commit(lease, boundary(2, { logs: [logLine("x")] })));
      await isNew("a line");
      await write(store, sendEvent("a", "e1", "x"));
      await isNew("an event");
      await write(store, pause("a"));
      await isNew("paused");
      await write(store, terminate("a"));
      await isNew("ended");
      await write(store, restart("a"));
      await isNew("restarted");
      equal(await getMarks.call(store, []), [], "of nothing");
    },
  },
  {
    name: "in brief, instances, runs and steps are the same but for their values, which are not read",
    async run({ open }) {
      const store = await open();
      await started(store, "leased");
      await ended(store, "over", complete(), { retentionMs: 5 });
      await ended(store, "failed", errorOut("no"));
      const { lease } = await suspended(store, "waiting", [completed(1), sleeping(2, at(9))], at(9));
      const whole = await store.listInstances({ limit: 10 });
      const brief = await store.listInstances({ limit: 10, brief: true });
      const expected = whole.items.map((item) => ({ ...item, params: unreadValue, output: null }));
      equal(brief.items, expected, "instances");
      const [run] = await store.listRuns(ref("over"), 10);
      equal(
        await store.listRuns(ref("over"), 10, { brief: true }),
        [{ ...run, params: unreadValue, output: null }],
        "runs",
      );
      const steps = (await store.listSteps(lease.runId, { limit: 10 })).items;
      equal(
        (await store.listSteps(lease.runId, { limit: 10, brief: true })).items,
        steps.map((step) => (step.status === "completed" ? { ...step, result: unreadValue } : step)),
        "steps",
      );
    },
  },
  {
    name: "instances are listed by workflow, by status and by dead letter, alone or together",
    async run({ open }) {
      const store = await open();
      const bill = { workflowName: "bill" };
      await ended(store, "errored", errorOut("e"), { createdAt: at(1) });
      await ended(store, "dead", errorOut("e", true), { createdAt: at(2) });
      await ended(store, "dead bill", errorOut("e", true), { ...bill, createdAt: at(3) });
      await ended(store, "complete", complete(), { createdAt: at(4) });
      await suspended(store, "waiting", [sleeping(1, never)], never, { createdAt: at(5) });
      await write(store, create("active bill", { ...bill, createdAt: at(6) }));
      const asc = { order: "asc" } as const;
      equal(await ids(store, { ...asc, ...bill }), ["dead bill", "active bill"], "of a workflow");
      equal(await ids(store, { ...asc, statuses: ["complete"] }), ["complete"], "of a status");
      equal(
        await ids(store, { ...asc, statuses: ["waiting", "errored"] }, 2),
        ["errored", "dead", "dead bill", "waiting"],
        "of two",
      );
      equal(await ids(store, { ...asc, deadLetter: true }), ["dead", "dead bill"], "dead letters");
      equal(
        await ids(store, { ...asc, deadLetter: false, statuses: ["errored"] }),
        ["errored"],
        "errored on its own",
      );
      equal(
        await ids(store, { ...bill, statuses: ["errored"], deadLetter: true }),
        ["dead bill"],
        "all together",
      );
    },
  },
  {
    name: "an instance that comes or goes between two pages disturbs no other (INV-46)",
    async run({ open }) {
      const store = await open();
      for (let n = 1; n <= 6; n += 1) await write(store, create(`i${n}`, { createdAt: at(n) }));
      const first = await store.listInstances({ limit: 2 });
      equal(
        first.items.map((item) => item.instanceId),
        ["i6", "i5"],
        "first page",
      );
      await write(store, create("new", { createdAt: at(9) }));
      await erased(store, ref("i5"));
      await erased(store, ref("i3"));
      const rest = await store.listInstances({ limit: 10, after: first.after as string });
      equal(
        rest.items.map((item) => item.instanceId),
        ["i4", "i2", "i1"],
        "the rest",
      );
    },
  },
  {
    name: "a restart between two pages neither repeats nor hides its instance (INV-46)",
    async run({ open }) {
      const store = await open();
      for (let n = 1; n <= 6; n += 1) await write(store, create(`i${n}`));
      for (const order of ["asc", "desc"] as const) {
        const first = await store.listInstances({ limit: 3, order });
        for (const id of ["i1", "i3", "i4", "i6"]) await write(store, restart(id), at(5));
        const second = await store.listInstances({ limit: 10, order, after: first.after as string });
        equal(
          [...first.items, ...second.items].map((item) => item.instanceId).toSorted(),
          ["i1", "i2", "i3", "i4", "i5", "i6"],
          `instances, ${order}`,
        );
      }
    },
  },
  {
    name: "lists and counts know an instance by its current run only",
    async run({ open }) {
      const store = await open();
      await ended(store, "a", errorOut("e", true));
      await write(store, restart("a"), at(1));
      equal(await ids(store, { statuses: ["errored"] }), [], "errored");
      equal(await ids(store, { deadLetter: true }), [], "dead letters");
      equal(await ids(store, { statuses: ["active"] }), ["a"], "active");
      equal((await store.countByStatus()).errored, 0, "count of errored");
      equal((await store.countByStatus()).active, 1, "count of active");
    },
  },
  {
    name: "a cursor that the store has not given is refused with INVALID_CURSOR (scenario 166)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      for (const after of ["nonsense", "", "'; DROP TABLE instances; --", "{}"]) {
        const query = { limit: 5, after };
        await rejects(store.listInstances(query), "INVALID_CURSOR", `instances after "${after}"`);
        await rejects(store.listSteps(lease.runId, query), "INVALID_CURSOR", `steps after "${after}"`);
        await rejects(store.listEvents(lease.runId, query), "INVALID_CURSOR", `events after "${after}"`);
        await rejects(store.listLogs(lease.runId, query), "INVALID_CURSOR", `logs after "${after}"`);
        await rejects(store.listWaiters("news", query), "INVALID_CURSOR", `waiters after "${after}"`);
      }
    },
  },
  {
    name: "steps are paged by index in both orders, gaps or not",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const indices = [1, 2, 5, 9, 10, 11, 100, 1000];
      const steps = indices.map((index) => completed(index));
      await committed(store, commit(lease, boundary(1, { steps: steps.toReversed() })), at(1));
      const page = async (order: "asc" | "desc") =>
        (await everyPage((query) => store.listSteps(lease.runId, query), 3, order)).map((step) => step.index);
      equal(await stepsOf(store, lease.runId), steps, "by default");
      equal(await page("asc"), indices, "first to last");
      equal(await page("desc"), indices.toReversed(), "last to first");
    },
  },
  {
    name: "events are paged by sequence in both orders, without those of the engine",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await store.write(
        Array.from({ length: 12 }, (_unused, n) => sendEvent("a", `e${n}`, "x", { system: n % 4 === 3 })),
        at(1),
      );
      const page = async (order?: "asc" | "desc") =>
        (await everyPage((query) => store.listEvents(lease.runId, query), 2, order)).map(
          (event) => event.seq,
        );
      const visible = [1, 2, 3, 5, 6, 7, 9, 10, 11];
      equal(await page(), visible, "by default");
      equal(await page("desc"), visible.toReversed(), "newest first");
    },
  },
  {
    name: "what does not exist reads as nothing",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await erased(store, ref("a"));
      equal(await store.getInstance(ref("nobody")), undefined, "an instance");
      equal(
        await store.getInstance(ref("nobody", "nowhere")),
        undefined,
        "an instance of an unknown workflow",
      );
      equal(await store.listSteps(lease.runId, { limit: 5 }), { items: [] }, "steps");
      equal(await store.listEvents(lease.runId, { limit: 5 }), { items: [] }, "events");
      equal(await store.listLogs(lease.runId, { limit: 5 }), { items: [] }, "log lines");
      equal(await store.listWaiters("nothing", { limit: 5 }), { items: [] }, "waiters");
    },
  },
  {
    name: "instances are counted by status, over all workflows or in one",
    async run({ open }) {
      const store = await open();
      const none = { active: 0, waiting: 0, paused: 0, complete: 0, errored: 0, terminated: 0 };
      equal(await store.countByStatus(), none, "of an empty store");
      await started(store, "a1");
      await write(store, create("a2"));
      await write(store, create("b", { workflowName: "bill" }));
      await suspended(store, "w", [sleeping(1, never)], never);
      await store.write([create("p"), pause("p"), create("t"), terminate("t")], at(0));
      await ended(store, "c", complete());
      await ended(store, "e", errorOut("e"));
      const one = { active: 2, waiting: 1, paused: 1, complete: 1, errored: 1, terminated: 1 };
      equal(await store.countByStatus(), { ...one, active: 3 }, "over all");
      equal(await store.countByStatus(workflow), one, "in one");
      equal(await store.countByStatus("unknown"), none, "in an unknown one");
    },
  },
];

async function ids(
  store: Store,
  query: Omit<InstanceQuery, "limit">,
  limit = 100,
): Promise<readonly string[]> {
  const items = await everyPage((page) => store.listInstances({ ...query, ...page }), limit, query.order);
  return items.map((item) => item.instanceId);
}
