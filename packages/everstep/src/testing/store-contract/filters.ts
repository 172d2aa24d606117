import type { InstanceQuery, Page, Store } from "../../store/index.ts";
import { ended, erased, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue } from "./check.ts";
import { at, complete, create, errorOut, never, ref, restart, sleeping } from "./given.ts";

const orders = ["asc", "desc"] as const;
const pageSizes = [1, 2, 3, 100];

/** By creation and by id; each alone, together, and with the other filters. */
export const filterCases: readonly Case[] = [
  {
    name: "instances are listed from a time on and before another, in both orders, page by page",
    async run({ open }) {
      const store = await open();
      for (let n = 1; n <= 9; n += 1) await write(store, create(`i${n}`, { createdAt: at(n - (n % 2)) }));
      // Created at 0, 2, 2, 4, 4, 6, 6, 8, 8.
      await expectIds(store, { createdFrom: at(4) }, ["i4", "i5", "i6", "i7", "i8", "i9"]);
      await expectIds(store, { createdBefore: at(4) }, ["i1", "i2", "i3"]);
      await expectIds(store, { createdFrom: at(2), createdBefore: at(6) }, ["i2", "i3", "i4", "i5"]);
      await expectIds(store, { createdFrom: at(3), createdBefore: at(4) }, []);
      await expectIds(store, { createdFrom: at(6), createdBefore: at(6) }, []);
      await expectIds(store, { createdFrom: at(9), createdBefore: at(1) }, []);
      await expectIds(store, { createdFrom: at(-9), createdBefore: at(99) }, names("i", 9));
    },
  },
  {
    name: "times before 1970 and far away are times like all others",
    async run({ open }) {
      const store = await open();
      const times = [-8_000_000_000_000_000, -5, 0, 7, 8_000_000_000_000_000];
      for (const [n, createdAt] of times.entries()) await write(store, create(`i${n + 1}`, { createdAt }));
      await expectIds(store, { createdFrom: -5 }, ["i2", "i3", "i4", "i5"]);
      await expectIds(store, { createdBefore: 0 }, ["i1", "i2"]);
      await expectIds(store, { createdFrom: -8_000_000_000_000_000, createdBefore: 7 }, ["i1", "i2", "i3"]);
    },
  },
  {
    name: "ids are found by how they begin, letter by letter, in exact case",
    async run({ open }) {
      const store = await open();
      const ids = [
        "order-1",
        "Order-1",
        "order_1",
        "order%1",
        "orde",
        "ordér-1",
        "日本-1",
        "日",
        "a order-1",
        "order-10",
      ];
      for (const [n, id] of ids.entries()) await write(store, create(id, { createdAt: at(n) }));
      await expectIds(store, { idPrefix: "order-1" }, ["order-1", "order-10"]);
      await expectIds(store, { idPrefix: "order_" }, ["order_1"]);
      await expectIds(store, { idPrefix: "order%" }, ["order%1"]);
      await expectIds(store, { idPrefix: "O" }, ["Order-1"]);
      await expectIds(store, { idPrefix: "ord\u00e9" }, ["ordér-1"]);
      await expectIds(store, { idPrefix: "日" }, ["日本-1", "日"]);
      await expectIds(store, { idPrefix: "%" }, []);
      await expectIds(store, { idPrefix: "_" }, []);
      await expectIds(store, { idPrefix: "order*" }, []);
      await expectIds(store, { idPrefix: "o[r]" }, []);
      await expectIds(store, { idPrefix: "' OR 1 = 1 --" }, []);
      await expectIds(store, { idPrefix: "order-10 and more" }, []);
      await expectIds(store, { idPrefix: "" }, ids);
    },
  },
  {
    name: "every filter goes with every other, over many workflows",
    async run({ open }) {
      const store = await open();
      const workflows = Array.from({ length: 7 }, (_unused, n) => `w${n}`);
      for (let n = 0; n < 42; n += 1) await write(store, create(...numbered(n)));
      await ended(store, "a-done", complete(), { workflowName: "w3", createdAt: at(42) });
      await ended(store, "a-dead", errorOut("e", true), { workflowName: "w3", createdAt: at(43) });
      await suspended(store, "a-waits", [sleeping(1, never)], never, {
        workflowName: "w4",
        createdAt: at(44),
      });
      await write(store, { ...restart("a-done"), workflowName: "w3" }, at(50));
      const all = await traversed(store, { order: "asc" }, 100);
      equal(all.length, 45, "instances");
      const filters: Omit<InstanceQuery, "limit">[] = [
        { idPrefix: "a-" },
        { idPrefix: "a-", createdFrom: at(10), createdBefore: at(43) },
        { idPrefix: "b-", workflowName: "w2" },
        { idPrefix: "a-", statuses: ["waiting", "errored"] },
        { idPrefix: "a-", deadLetter: true },
        { idPrefix: "a-", deadLetter: false, createdFrom: at(30) },
        { createdFrom: at(40), statuses: ["errored", "active"] },
        { createdFrom: at(40), deadLetter: true },
        { createdBefore: at(43), deadLetter: true },
        ...workflows.map((workflowName) => ({ workflowName, createdFrom: at(7), createdBefore: at(36) })),
      ];
      for (const filter of filters) {
        const wanted = all.filter((item) => {
          const { createdFrom = 0, createdBefore = never, idPrefix = "", statuses, deadLetter } = filter;
          if (filter.workflowName !== undefined && item.workflowName !== filter.workflowName) return false;
          if (statuses !== undefined && !statuses.includes(item.status)) return false;
          if (deadLetter !== undefined && item.deadLetter !== deadLetter) return false;
          if (!item.instanceId.startsWith(idPrefix)) return false;
          return item.createdAt >= createdFrom && item.createdAt < createdBefore;
        });
        await expectIds(
          store,
          filter,
          wanted.map((item) => item.instanceId),
        );
      }
    },
  },
  {
    name: "an instance that comes or goes between two pages of a filtered list disturbs no other (INV-46)",
    async run({ open }) {
      const store = await open();
      for (let n = 1; n <= 6; n += 1) await write(store, create(`i${n}`, { createdAt: at(n) }));
      await write(store, create("other", { createdAt: at(4) }));
      const filter = { idPrefix: "i", createdFrom: at(2), createdBefore: at(9) };
      const first = await store.listInstances({ ...filter, limit: 2 });
      equal(idsOf(first), ["i6", "i5"], "first page");
      await write(store, create("i0", { createdAt: at(8) }));
      await erased(store, ref("i5"));
      await erased(store, ref("i3"));
      const rest = await store.listInstances({ ...filter, limit: 10, after: first.after as string });
      equal(idsOf(rest), ["i4", "i2"], "the rest");
    },
  },
];

function numbered(n: number): [string, { workflowName: string; createdAt: number }] {
  return [`${n % 3 === 0 ? "a" : "b"}-${n}`, { workflowName: `w${n % 7}`, createdAt: at(n - (n % 4)) }];
}

function names(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_unused, n) => `${prefix}${n + 1}`);
}

function idsOf({ items }: Page<{ readonly instanceId: string }>): readonly string[] {
  return items.map((item) => item.instanceId);
}

/** Exactly these, oldest first, however the pages are cut, and the other way round too. */
async function expectIds(
  store: Store,
  filter: Omit<InstanceQuery, "limit">,
  expected: readonly string[],
): Promise<void> {
  for (const order of orders) {
    for (const limit of pageSizes) {
      const items = await traversed(store, { ...filter, order }, limit);
      equal(
        items.map((item) => item.instanceId),
        order === "asc" ? expected : expected.toReversed(),
        `${JSON.stringify(filter)}, ${order}, pages of ${limit}`,
      );
    }
  }
}

/** Pages may be short, or empty, where ids are looked for. */
async function traversed(store: Store, query: Omit<InstanceQuery, "limit">, limit: number) {
  const items = [];
  const seen = new Set<string>();
  let after: string | undefined;
  do {
    const page: Page<Awaited<ReturnType<Store["listInstances"]>>["items"][number]> =
      await store.listInstances({
        ...query,
        limit,
        ...(after === undefined ? {} : { after }),
      });
    isTrue(
      page.items.length <= limit,
      `a page of ${page.items.length} where at most ${limit} were asked for`,
    );
    items.push(...page.items);
    after = page.after;
    isTrue(after === undefined || !seen.has(after), "a page that leads nowhere");
    if (after !== undefined) seen.add(after);
  } while (after !== undefined);
  return items;
}
