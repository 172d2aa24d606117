import { claimOne, committed, everyPage, logsOf, started, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue } from "./check.ts";
import {
  at,
  boundary,
  commit,
  leaseMs,
  logLine,
  pause,
  restart,
  sendEvent,
  suspendUntil,
  terminate,
  value,
} from "./given.ts";

export const logCases: readonly Case[] = [
  {
    name: "a log line keeps all it carries (scenario 170)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const lines = [
        logLine("plain"),
        logLine("rich", {
          stepKey: "charge#1",
          attempt: 2,
          level: "error",
          category: "billing",
          data: value({ amount: 3 }),
          isReplay: true,
          createdAt: at(123),
        }),
      ];
      await committed(store, commit(lease, boundary(1, { logs: lines })), at(1));
      equal(
        (await logsOf(store, lease.runId)).map(({ seq: _seq, ...line }) => line),
        lines,
        "lines",
      );
    },
  },
  {
    name: "log lines keep their order within a commit, across commits and across claims, whatever their time",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      const line = (n: number) => logLine(`line ${n}`, { createdAt: at(100 - n) });
      await committed(store, commit(first.lease, boundary(1, { logs: [line(1), line(2)] })), at(1));
      await committed(
        store,
        commit(first.lease, boundary(2, { logs: [line(3)], next: suspendUntil(at(5)) })),
        at(1),
      );
      const second = await claimOne(store, "a", at(5));
      await committed(store, commit(second.lease, boundary(1, { logs: [line(4), line(5)] })), at(6));
      const lines = await logsOf(store, second.lease.runId);
      equal(
        lines.map(({ message }) => message),
        [1, 2, 3, 4, 5].map((n) => `line ${n}`),
        "order",
      );
      for (const [n, { seq }] of lines.entries()) {
        isTrue(n === 0 || seq > (lines[n - 1]?.seq ?? 0), "the sequence grows");
      }
    },
  },
  {
    name: "log lines can be asked for by level, by category and by both, page by page (scenario 171)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const logs = Array.from({ length: 24 }, (_unused, n) =>
        logLine(`${n}`, { level: n % 2 === 0 ? "info" : "warn", category: n % 3 === 0 ? "three" : "other" }),
      );
      await committed(store, commit(lease, boundary(1, { logs })), at(1));
      const ask = async (
        filter: { level?: "info" | "warn" | "debug"; category?: string },
        order?: "asc" | "desc",
      ) => {
        const lines = await everyPage(
          (query) => store.listLogs(lease.runId, { ...query, ...filter }),
          3,
          order,
        );
        return lines.map(({ message }) => Number(message));
      };
      equal(await ask({ level: "warn" }), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23], "by level");
      equal(await ask({ category: "three" }), [0, 3, 6, 9, 12, 15, 18, 21], "by category");
      equal(await ask({ level: "info", category: "three" }), [0, 6, 12, 18], "by both");
      equal(await ask({ level: "info", category: "three" }, "desc"), [18, 12, 6, 0], "newest first");
      equal(await ask({ level: "debug" }), [], "a level nothing was written at");
      equal(await ask({ category: "Three" }), [], "a category in another case");
    },
  },
  {
    name: "every run has log lines of its own",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      await committed(store, commit(first.lease, boundary(1, { logs: [logLine("first life")] })), at(1));
      await write(store, restart("a"), at(2));
      const second = await claimOne(store, "a", at(2));
      await committed(store, commit(second.lease, boundary(1, { logs: [logLine("second life")] })), at(3));
      equal(
        (await logsOf(store, first.lease.runId)).map((line) => line.message),
        ["first life"],
        "of the first",
      );
      equal(
        (await logsOf(store, second.lease.runId)).map((line) => line.message),
        ["second life"],
        "of the second",
      );
    },
  },
  {
    name: "one commit may carry many lines",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const logs = Array.from({ length: 1000 }, (_unused, n) => logLine(`${n}`));
      await committed(store, commit(lease, boundary(1, { logs })), at(1));
      equal(
        (await logsOf(store, lease.runId)).map((line) => line.message),
        logs.map((line) => line.message),
        "lines",
      );
    },
  },
  {
    name: "lines of a turn that lost its lease are not kept (INV-12)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      const fast = await claimOne(store, "a", at(leaseMs));
      const stale = commit(slow.lease, boundary(1, { logs: [logLine("late")] }));
      const kept = commit(fast.lease, boundary(1, { logs: [logLine("in time")] }));
      const outcomes = await store.write([stale, kept], at(leaseMs));
      equal(
        outcomes.map((outcome) => outcome.kind),
        ["superseded", "committed"],
        "outcomes",
      );
      equal(
        (await logsOf(store, fast.lease.runId)).map((line) => line.message),
        ["in time"],
        "lines",
      );
    },
  },
  {
    name: "a change brings its log lines to the run that is current afterwards, once, and none when it is refused",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1, { logs: [logLine("own")] })), at(1));
      const paused = { ...pause("a"), logs: [logLine("paused by ann"), logLine("and ben")] };
      await write(store, paused, at(2));
      await write(store, paused, at(3));
      await write(store, { ...pause("a"), logs: [logLine("refused")] }, at(4));
      await write(store, commit(lease, boundary(2, { logs: [logLine("own again")] })), at(5));
      const lines = await logsOf(store, lease.runId);
      equal(
        lines.map(({ seq, message }) => [seq, message]),
        [
          [1, "own"],
          [2, "paused by ann"],
          [3, "and ben"],
          [4, "own again"],
        ],
        "lines of the run",
      );
      const restarted = await write(store, { ...restart("a"), logs: [logLine("restarted")] }, at(6));
      isTrue(restarted.kind === "changed", "it is restarted");
      equal((await logsOf(store, restarted.runId)).map(textOf), ["restarted"], "lines of the next run");
      await write(store, { ...terminate("a"), logs: [logLine("terminated")] }, at(7));
      equal((await logsOf(store, restarted.runId)).map(textOf), ["restarted", "terminated"], "after its end");
    },
  },
  {
    name: "an event brings its log lines once, and none when it is refused",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const skip = { ...sendEvent("a", "e1", "paid"), logs: [logLine("sent by ann")] };
      await write(store, skip, at(1));
      await write(store, skip, at(2));
      await store.write([sendEvent("a", "e2", "paid"), { ...skip, id: "e3" }], at(3));
      await write(store, terminate("a"), at(4));
      await write(store, { ...skip, id: "e4" }, at(5));
      equal((await logsOf(store, lease.runId)).map(textOf), ["sent by ann", "sent by ann"], "lines");
    },
  },
];

const textOf = ({ message }: { readonly message: string }): string => message;
