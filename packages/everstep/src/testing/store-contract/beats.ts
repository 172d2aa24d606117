import type { Beat, MinuteTally, RunnerRecord, Store, Tally, TallyQuery } from "../../store/index.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import { at, create, workflow } from "./given.ts";

const minuteMs = 60_000;
/** The first minute of a case, and those after it. */
const minute = (n: number): number => Math.ceil(at(0) / minuteMs) * minuteMs + n * minuteMs;
const always = { from: minute(-1), to: minute(1000) };

export const beatCases: readonly Case[] = [
  {
    name: "a runner that tells of itself is found with all its facts",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      equal(await runners(store), [], "before anybody told");
      await beat(store, { runner: runner("a") });
      equal(await runners(store), [runner("a")], "afterwards");
      const bare = runner("b", { host: null, pid: null, workflows: [], concurrency: 0, turns: 0 });
      await beat(store, { runner: bare });
      equal(await runners(store), [runner("a"), bare], "one that knows nothing of its host");
    },
  },
  {
    name: "a later beat replaces the facts of its runner and leaves the others alone",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      await beat(store, { runner: runner("a") });
      await beat(store, { runner: runner("b") });
      const later = runner("a", {
        seenAt: at(5000),
        stoppedAt: at(5000),
        turns: 0,
        host: null,
        workflows: ["x"],
      });
      await beat(store, { runner: later });
      equal(await runners(store), [later, runner("b")], "runners");
    },
  },
  {
    name: "runners come in the order in which they were seen last, at most as many as asked for",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      for (const n of [3, 1, 5, 2, 4]) await beat(store, { runner: runner(`r${n}`, { seenAt: at(n) }) });
      const owners = async (limit: number) =>
        (await store.listRunners?.(limit))?.map(({ owner }) => owner) ?? [];
      equal(await owners(100), ["r5", "r4", "r3", "r2", "r1"], "all");
      equal(await owners(2), ["r5", "r4"], "two");
    },
  },
  {
    name: "what several runners did in the same minute adds up, beat after beat",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const first = tally(0, { complete: 1, errored: 2, terminated: 3, steps: 4, failedAttempts: 5 });
      await beat(store, { runner: runner("a"), tallies: [first, tally(1, { steps: 1 })] });
      await beat(store, { runner: runner("b"), tallies: [first] });
      await beat(store, { runner: runner("a"), tallies: [tally(0, { steps: 100 })] });
      await beat(store, { runner: runner("a") });
      const sum = { complete: 2, errored: 4, terminated: 6, steps: 108, failedAttempts: 10 };
      equal(await tallies(store), [counted(0, sum), counted(1, { steps: 1 })], "minutes");
    },
  },
  {
    name: "tallies are read for a span of time, of one workflow or of all together, oldest first",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const given = [4, 0, 2, 1, 3].flatMap((n) => [
        tally(n, { complete: n + 1 }),
        tally(n, { complete: 10, errored: 1 }, "other"),
      ]);
      await beat(store, { tallies: given });
      const span = { from: minute(1), to: minute(3) };
      const both = [1, 2].map((n) => counted(n, { complete: n + 11, errored: 1 }));
      equal(await tallies(store, span), both, "of all");
      const own = [1, 2].map((n) => counted(n, { complete: n + 1 }));
      equal(await tallies(store, { ...span, workflowName: workflow }), own, "of one");
      equal(await tallies(store, { ...always, workflowName: "nobody" }), [], "of none");
      equal(await tallies(store, { from: minute(5), to: minute(9) }), [], "where nothing was done");
      equal(
        (await tallies(store)).map(({ minute }) => minute),
        [0, 1, 2, 3, 4].map(minute),
        "in order",
      );
    },
  },
  {
    name: "no more than seven days of minutes are read at once: the last of those asked for",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const days = 24 * 60;
      await beat(store, { tallies: [tally(0, { steps: 1 }), tally(days, { steps: 2 })] });
      const read = await tallies(store, { from: minute(0), to: minute(7 * days + 1) });
      equal(read, [counted(days, { steps: 2 })], "minutes");
    },
  },
  {
    name: "a beat forgets runners and minutes that are older than it says, and nothing else",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      await store.write([create("kept")], at(0));
      await beat(store, {
        runner: runner("gone", { seenAt: minute(1) - 1 }),
        tallies: [tally(0, { steps: 1 })],
      });
      await beat(store, {
        runner: runner("late", { seenAt: minute(1) }),
        tallies: [tally(1, { steps: 1 })],
      });
      const last = runner("here", { seenAt: minute(3) });
      await beat(store, { runner: last, tallies: [tally(3, { steps: 1 })], forgetBefore: minute(1) });
      equal(
        (await runners(store)).map(({ owner }) => owner),
        ["here", "late"],
        "runners",
      );
      equal(
        (await tallies(store)).map((each) => each.minute),
        [minute(1), minute(3)],
        "minutes",
      );
      equal((await store.countByStatus()).active, 1, "instances");
    },
  },
  {
    name: "names of every kind are told apart, and come back as they were",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const told = runner('o\'wner: "1"', { host: "höst\\name '%' \u{1f980}", workflows: hostileNames });
      const counts = hostileNames.map((name, n) => tally(0, { steps: n + 1 }, name));
      await beat(store, { runner: told, tallies: counts });
      equal(await runners(store), [told], "runners");
      for (const [n, workflowName] of hostileNames.entries()) {
        equal(
          await tallies(store, { ...always, workflowName }),
          [counted(0, { steps: n + 1 })],
          `steps of ${JSON.stringify(workflowName)}`,
        );
      }
    },
  },
  {
    name: "large numbers are kept to the last digit",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const large = 2 ** 51 + 1;
      const told = runner("a", { pid: 2 ** 31, concurrency: 2 ** 40, turns: large, startedAt: 0 });
      await beat(store, { runner: told, tallies: [tally(0, { steps: large, failedAttempts: large })] });
      await beat(store, { runner: told, tallies: [tally(0, { steps: large, complete: 1 })] });
      equal(await runners(store), [told], "runners");
      const sum = { steps: 2 * large, failedAttempts: large, complete: 1 };
      equal(await tallies(store), [counted(0, sum)], "minutes");
    },
  },
  {
    name: "beats of many runners at once all count",
    needs: "beats",
    async run({ open }) {
      const store = await open();
      const names = ["x", "y", "z"];
      const turned = (n: number): readonly string[] => (n % 2 === 0 ? names : names.toReversed());
      const one = async (n: number): Promise<void> =>
        beat(store, {
          runner: runner(`r${n}`),
          tallies: turned(n).map((name) => tally(0, { steps: 1 }, name)),
          forgetBefore: minute(-5),
        });
      await Promise.all(Array.from({ length: 12 }, (_unused, n) => one(n)));
      equal((await runners(store)).length, 12, "runners");
      equal(await tallies(store), [counted(0, { steps: 36 })], "minutes");
    },
  },
  {
    name: "what one process told the other reads, also after a restart",
    needs: "reopen",
    async run({ open, reopen }) {
      const store = await open();
      if (store.beat === undefined) return;
      await beat(store, { runner: runner("a"), tallies: [tally(0, { steps: 1 })] });
      const other = await reopen(store);
      await beat(other, { runner: runner("b"), tallies: [tally(0, { steps: 1 })] });
      equal(await tallies(store), [counted(0, { steps: 2 })], "minutes");
      await store.close();
      equal(await runners(other), [runner("a"), runner("b")], "runners");
    },
  },
];

const hostileNames: readonly string[] = [
  ...["a", "A", "a ", " a", "á", "a\u0301", "ab", "b", "c", "e", "ca"],
  ...["a'; DROP TABLE tally; --", 'a"b', "a\\", "%", "_", ":", "1:a", "{a}", "\u{1f980}", "constructor", "?"],
];

function runner(owner: string, facts: Partial<RunnerRecord> = {}): RunnerRecord {
  return {
    owner,
    host: "host-1",
    pid: 4711,
    startedAt: at(-1000),
    seenAt: at(0),
    stoppedAt: null,
    concurrency: 256,
    turns: 3,
    workflows: [workflow, "other"],
    ...facts,
  };
}

const nothing = { complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 };

function tally(n: number, counts: Partial<Tally>, workflowName: string = workflow): Tally {
  return { ...nothing, ...counts, minute: minute(n), workflowName };
}

function counted(n: number, counts: Partial<MinuteTally>): MinuteTally {
  return { ...nothing, ...counts, minute: minute(n) };
}

async function beat(store: Store, facts: Partial<Beat>): Promise<void> {
  await store.beat?.({ runner: runner("a"), tallies: [], forgetBefore: 0, ...facts });
}

async function runners(store: Store): Promise<readonly RunnerRecord[]> {
  return (await store.listRunners?.(100)) ?? [];
}

async function tallies(store: Store, query: TallyQuery = always) {
  return (await store.readTallies?.(query)) ?? [];
}
