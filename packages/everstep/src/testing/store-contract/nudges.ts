import type { Nudge, Store } from "../../store/index.ts";
import { claimOne, committed, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue } from "./check.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  boundary,
  commit,
  complete,
  create,
  never,
  pause,
  publish,
  sendEvent,
} from "./given.ts";

/** What another handle is told; hints only, but those that are never given help nobody. */
export const nudgeCases: readonly Case[] = [
  ...(
    [
      ["an instance created", "due", (store) => write(store, create("new"))],
      ["an event accepted", "due", (store) => write(store, sendEvent("a", "e1", "x"), at(1))],
      ["a publication that reached somebody", "due", (store) => write(store, publish("p1", "news"), at(1))],
      ["a pause", "changed", (store) => write(store, pause("a"), at(1))],
      [
        "the end of a run",
        "ended",
        async (store) => {
          const { lease } = await claimOne(store, "b", at(1));
          await committed(store, commit(lease, boundary(1, { next: complete() })), at(1));
        },
      ],
    ] as readonly (readonly [string, keyof Nudge, (store: Store) => Promise<unknown>])[]
  ).map(
    ([what, kind, act]): Case => ({
      name: `${what} is told to other handles`,
      needs: "nudges",
      async run({ open, reopen }) {
        const store = await open();
        await suspended(store, "a", [awaiting(1, "x", never), awaitingTopic(2, "news", never)], never);
        await write(store, create("b"));
        const other = await reopen(store);
        const { nudges, next, stop } = await listen(other);
        const told = next((nudge) => nudge[kind]);
        await act(store);
        await told;
        stop();
        isTrue(nudges.length > 0, "nudges heard");
      },
    }),
  ),
  {
    name: "a handle is not told of what it does itself",
    needs: "nudges",
    async run({ open, reopen }) {
      const store = await open();
      const other = await reopen(store);
      const own = await listen(store);
      const { next, stop } = await listen(other);
      const told = next((nudge) => nudge.due);
      await write(store, create("a"));
      await told;
      // Whatever it would have heard of itself came before this.
      const back = own.next((nudge) => nudge.due);
      await write(other, create("b"));
      await back;
      equal(own.nudges.length, 1, "nudges heard by the handle that created the first");
      own.stop();
      stop();
    },
  },
  {
    name: "who stopped listening hears nothing more, and closing ends it for all",
    needs: "nudges",
    async run({ open, reopen }) {
      const store = await open();
      const other = await reopen(store);
      const stopped = await listen(other);
      stopped.stop();
      const { next } = await listen(other);
      const told = next((nudge) => nudge.due);
      await write(store, create("a"));
      await told;
      equal(stopped.nudges.length, 0, "nudges heard after stopping");
    },
  },
  {
    name: "the store's clock, where it has one, goes forward with real time",
    async run({ open }) {
      const store = await open();
      if (store.serverTime === undefined) return;
      const first = await store.serverTime();
      const second = await store.serverTime();
      isTrue(Number.isInteger(first) && first > Date.UTC(2020, 0, 1), "epoch milliseconds");
      isTrue(second >= first && second - first < 60_000, "a moment later");
    },
  },
];

interface Listening {
  readonly nudges: readonly Nudge[];
  /** The next one that fits. */
  next(fits: (nudge: Nudge) => boolean): Promise<void>;
  stop(): void;
}

async function listen(store: Store): Promise<Listening> {
  const nudges: Nudge[] = [];
  const waiting = new Set<{ fits: (nudge: Nudge) => boolean; resolve: () => void }>();
  const stop = await store.subscribe?.({
    onNudge(nudge) {
      nudges.push(nudge);
      for (const each of waiting) if (each.fits(nudge)) each.resolve();
    },
    onLost() {},
  });
  if (stop === undefined) throw new Error("the store says it has nudges, but no subscribe");
  return {
    nudges,
    next: (fits) => new Promise((resolve) => waiting.add({ fits, resolve })),
    stop,
  };
}
