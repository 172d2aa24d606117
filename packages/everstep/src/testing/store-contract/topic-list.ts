import type { Page, Store, TopicSummary } from "../../store/index.ts";
import { claimOne, committed, ended, erased, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, rejects } from "./check.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  boundary,
  claimRequest,
  commit,
  complete,
  never,
  pause,
  publish,
  received,
  ref,
  restart,
  terminate,
} from "./given.ts";

export const topicListCases: readonly Case[] = [
  {
    name: "topics are listed by name, each with how many waits on it are open",
    async run({ open }) {
      const store = await open();
      equal(await store.listTopics({ limit: 5 }), { items: [] }, "of an empty store");
      await suspended(
        store,
        "a",
        [awaitingTopic(1, "news", never), awaitingTopic(2, "stock.low", never)],
        never,
      );
      await suspended(store, "b", [awaitingTopic(1, "news", never)], never, { workflowName: "bill" });
      await suspended(store, "c", [awaitingTopic(1, "News", never)], never);
      await suspended(store, "d", [awaiting(1, "an event type", never)], never);
      equal(
        await topics(store),
        [
          { topic: "News", waiters: 1 },
          { topic: "news", waiters: 2 },
          { topic: "stock.low", waiters: 1 },
        ],
        "topics",
      );
    },
  },
  {
    name: "a topic is listed as long as somebody waits on it, paused or not, and no longer",
    async run({ open }) {
      const store = await open();
      const waits = () => [awaitingTopic(1, "news", never)];
      await suspended(store, "paused", waits(), never);
      await suspended(store, "ended", waits(), never);
      await suspended(store, "restarted", waits(), never);
      await suspended(store, "removed", waits(), never);
      await suspended(store, "heard", waits(), never);
      await ended(store, "never waited", complete());
      equal(await topics(store), [{ topic: "news", waiters: 5 }], "all");
      await store.write([pause("paused"), terminate("ended"), restart("restarted")], at(1));
      await erased(store, ref("removed"));
      equal(await topics(store), [{ topic: "news", waiters: 2 }], "those that still wait");
      await write(store, publish("p1", "news"), at(2));
      const heard = (await store.claim(claimRequest({ now: at(2), leaseUntil: at(900) }))).find(
        ({ instanceId }) => instanceId === "heard",
      );
      isTrue(heard !== undefined, '"heard" should be claimed');
      const settled = boundary(1, {
        steps: [received(awaitingTopic(1, "news", never))],
        consumed: [{ seq: 1, stepKey: "step 1#1" }],
        next: complete(),
      });
      await committed(store, commit(heard.lease, settled), at(3));
      equal(await topics(store), [{ topic: "news", waiters: 1 }], "the paused one");
      await write(store, terminate("paused"), at(4));
      equal(await topics(store), [], "nobody");
    },
  },
  {
    name: "a topic that was left by all is listed again with the next that waits",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      await write(store, terminate("a"), at(1));
      equal(await topics(store), [], "left");
      await write(store, restart("a"), at(2));
      const { lease } = await claimOne(store, "a", at(2));
      const waits = {
        steps: [awaitingTopic(1, "news", never)],
        next: { kind: "suspend", dueAt: never, task: "wake" },
      } as const;
      await committed(store, commit(lease, boundary(1, waits)), at(3));
      equal(await topics(store), [{ topic: "news", waiters: 1 }], "again");
    },
  },
  {
    name: "topics are paged completely, each once, in both orders, also while some come and go (INV-46)",
    async run({ open }) {
      const store = await open();
      const names = Array.from({ length: 23 }, (_unused, n) => `t${String(n).padStart(2, "0")}`);
      for (const [n, topic] of names.entries()) {
        await suspended(
          store,
          `i${n}`,
          [awaitingTopic(1, topic, never), awaitingTopic(2, topic, never)],
          never,
        );
      }
      for (const limit of [1, 4, 22, 23, 24]) {
        const up = await topics(store, limit, "asc");
        equal(
          up,
          names.map((topic) => ({ topic, waiters: 2 })),
          `first to last, pages of ${limit}`,
        );
        equal(await topics(store, limit, "desc"), up.toReversed(), `last to first, pages of ${limit}`);
      }
      const first = await store.listTopics({ limit: 3 });
      await store.write([terminate("i1"), terminate("i2"), terminate("i4")], at(1));
      await suspended(store, "late", [awaitingTopic(1, "t03.5", never)], never);
      const second = await store.listTopics({ limit: 3, after: first.after as string });
      equal(namesOf(second), ["t03", "t03.5", "t05"], "the second page");
    },
  },
  {
    name: "a cursor of another list is refused with INVALID_CURSOR (scenario 166)",
    async run({ open }) {
      const store = await open();
      for (const after of ["nonsense", "", "'; DROP TABLE topics; --", "{}", "1.2", "topic:"]) {
        await rejects(store.listTopics({ limit: 5, after }), "INVALID_CURSOR", `topics after "${after}"`);
      }
    },
  },
];

function namesOf({ items }: Page<TopicSummary>): readonly string[] {
  return items.map(({ topic }) => topic);
}

/** Pages may be short, or empty. */
async function topics(
  store: Store,
  limit = 100,
  order: "asc" | "desc" = "asc",
): Promise<readonly TopicSummary[]> {
  const items: TopicSummary[] = [];
  let after: string | undefined;
  do {
    const page: Page<TopicSummary> = await store.listTopics({
      limit,
      order,
      ...(after === undefined ? {} : { after }),
    });
    isTrue(
      page.items.length <= limit,
      `a page of ${page.items.length} where at most ${limit} were asked for`,
    );
    items.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return items;
}
