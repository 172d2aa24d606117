import { expect, test } from "vitest";
import { keepWatching, type Surroundings } from "./keep-watching.ts";
import type { Problem } from "./problem.ts";

interface Snapshot {
  readonly n: number;
  readonly isEnded?: boolean;
}

/** A page with its tabs' places for streams, and a service that counts what is open. */
function scene(told: readonly Snapshot[], { free = 1 } = {}) {
  const leaving = new AbortController();
  const values: number[] = [];
  const pauses: number[] = [];
  const problems: Problem[] = [];
  const marks: string[] = [];
  let place = 0;
  let open = 0;
  let seen = new AbortController();
  let back = (): void => {};
  const slots = { free };
  const around: Surroundings = {
    async withSlot(work) {
      if (slots.free === 0) return null;
      slots.free--;
      try {
        return await work();
      } finally {
        slots.free++;
      }
    },
    whenSeen: () =>
      new Promise((resolve) => {
        back = resolve;
        if (!seen.signal.aborted) resolve();
      }),
    whileSeen: (signal) => AbortSignal.any([signal, seen.signal]),
    changeCount: () => 0,
    async pause(ms) {
      pauses.push(ms);
      if (pauses.length >= 3) leaving.abort();
    },
  };
  const watch = {
    async *open({ signal }: { readonly signal: AbortSignal }): AsyncGenerator<Snapshot> {
      open++;
      marks.push("open");
      try {
        yield told[Math.min(place++, told.length - 1)] as Snapshot;
        while (place < told.length) yield told[place++] as Snapshot;
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      } finally {
        open--;
        marks.push("closed");
      }
    },
    isOver: ({ isEnded = false }: Snapshot) => isEnded,
    onValue: ({ n }: Snapshot) => void values.push(n),
    onDropped: () => void marks.push("dropped"),
    onProblem: (problem: Problem) => void problems.push(problem),
  };
  return {
    ...{ values, pauses, problems, marks, slots },
    openCount: () => open,
    hide: () => seen.abort(),
    show() {
      seen = new AbortController();
      back();
    },
    leave: () => leaving.abort(),
    run: () => keepWatching<Snapshot>(watch, around, leaving.signal),
  };
}

const soon = () => new Promise((resolve) => setTimeout(resolve));

test("what goes on is followed over one connection", async () => {
  const { run, leave, values, marks, openCount } = scene([{ n: 1 }, { n: 2 }, { n: 3 }]);
  const watching = run();
  await soon();
  expect({ values, marks, open: openCount() }).toEqual({ values: [1, 2, 3], marks: ["open"], open: 1 });
  leave();
  await watching;
  expect(openCount()).toBe(0);
});

test("what has ended keeps no connection and no place, and is asked for from time to time", async () => {
  const { run, values, pauses, slots, openCount } = scene([{ n: 1 }, { n: 2, isEnded: true }]);
  await run();
  expect({ values, open: openCount(), free: slots.free }).toEqual({ values: [1, 2, 2, 2], open: 0, free: 1 });
  expect(pauses).toEqual([5000, 5000, 5000]);
});

test("who gets no place asks from time to time, and each answer closes its connection", async () => {
  const { run, values, pauses, openCount } = scene([{ n: 1 }], { free: 0 });
  await run();
  expect({ values, pauses, open: openCount() }).toEqual({
    values: [1, 1, 1],
    pauses: [2000, 2000, 2000],
    open: 0,
  });
});

test("a page that nobody looks at keeps no connection; who comes back sees what is now", async () => {
  const { run, hide, show, leave, marks, slots, values } = scene([{ n: 1 }]);
  const watching = run();
  await soon();
  hide();
  await soon();
  expect({ marks, free: slots.free }).toEqual({ marks: ["open", "closed"], free: 1 });
  show();
  await soon();
  expect({ marks, values }).toEqual({ marks: ["open", "closed", "open"], values: [1, 1] });
  leave();
  await watching;
});
