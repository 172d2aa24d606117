import { describe, expect, test } from "vitest";
import { StoreError, type StoreFailure } from "../model/error.ts";
import type { CommitRequest, Store, StoreOutcome, StoreRequest } from "../store/store.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { CommitGroup } from "./commit-group.ts";
import { Patience } from "./store-patience.ts";
import { Entry } from "./write-lane.ts";

/** A request that is told apart by its number; what it asks for does not matter here. */
const request = (id: number): StoreRequest => ({ kind: "wake", runId: id, token: 1 });
const emptyBoundary = { steps: [], logs: [], next: { kind: "continue" } };
const commitOf = (id: number, mutations: object | null, boundary: object = emptyBoundary): CommitRequest =>
  ({ kind: "commit", lease: { runId: id }, mutations, boundary, alongside: [] }) as never;
const withMutations = (id: number): CommitRequest => commitOf(id, { serviceCalls: [], mutate: [] });
const plainCommit = (id: number): CommitRequest => commitOf(id, null);
/** One whose step has a result of so many bytes. */
const largeCommit = (id: number, bytes: number): CommitRequest =>
  commitOf(id, null, {
    ...emptyBoundary,
    steps: [{ key: "s", status: "completed", errors: [], result: { json: "x".repeat(bytes), marks: null } }],
  });
const idOf = (given: StoreRequest): number =>
  (given.kind === "wake" ? given.runId : (given as CommitRequest).lease.runId) as number;
const failure = (kind: StoreFailure): StoreError => new StoreError(kind, "STORE_FAILED", kind);

/** Sends it as turns send their commits: it is tried again for as long as somebody wants it. */
function sendWhile(wanted: () => boolean, group: CommitGroup, given: StoreRequest): Promise<StoreOutcome> {
  return new Promise((resolve, reject) => {
    class WantedEntry extends Entry {
      isWanted = wanted;
      resolve = resolve;
      reject = reject;
    }
    group.send(new WantedEntry(given, undefined, 0));
  });
}

type Answer = (ids: readonly number[], call: number) => unknown;

/** A store that writes down what it is asked, and does as the test says: throw, wait, or answer. */
function begin(answer: Answer = () => undefined, writesAtOnce?: number) {
  const runtime = createFakeRuntime();
  const writes: number[][] = [];
  const sent: (readonly StoreRequest[])[] = [];
  const store = {
    ...(writesAtOnce === undefined ? {} : { writesAtOnce }),
    async write(requests: readonly StoreRequest[]): Promise<readonly StoreOutcome[]> {
      const ids = requests.map(idOf);
      writes.push(ids);
      sent.push(requests);
      const thrown = await answer(ids, writes.length - 1);
      if (thrown instanceof Error) throw thrown;
      return requests.map((given) => ({ kind: "woken", id: idOf(given) }) as never);
    },
  } as unknown as Store;
  const group = new CommitGroup(store, runtime);
  /** What became of a request, in one word. */
  const submit = (given: StoreRequest, wanted?: () => boolean) => {
    const fate = { is: "open", of: idOf(given) };
    (wanted ? sendWhile(wanted, group, given) : group.submit(given)).then(
      (outcome) => {
        fate.is = (outcome as never as { id: number }).id === fate.of ? "done" : "mixed up";
      },
      (error) => {
        fate.is = error instanceof StoreError ? error.failure : String(error);
      },
    );
    return fate;
  };
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  return { runtime, group, writes, sent, submit, numbers };
}

const fates = (given: readonly { is: string }[]): string[] => given.map(({ is }) => is);

describe("what is written together", () => {
  test("everything that became ready in one turn of the event loop, without a timer", async () => {
    const { runtime, writes, submit, numbers } = begin();
    const submitted = numbers(5).map((id) => submit(request(id)));
    expect(writes).toEqual([]);
    await runtime.settle();
    expect(writes).toEqual([[0, 1, 2, 3, 4]]);
    expect(new Set(fates(submitted))).toEqual(new Set(["done"]));
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("what arrives while a write is under way goes into the next one", async () => {
    let answer!: () => void;
    const first = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { runtime, writes, submit } = begin((_, call) => (call === 0 ? first : undefined));
    submit(request(0));
    await runtime.settle();
    for (const id of [1, 2, 3]) {
      submit(request(id));
      await runtime.settle();
    }
    expect(writes).toEqual([[0]]);
    answer();
    await runtime.settle();
    expect(writes).toEqual([[0], [1, 2, 3]]);
  });

  test("alone a request waits for nobody", async () => {
    const { runtime, submit } = begin();
    const fate = submit(request(0));
    await runtime.settle();
    expect(fate.is).toBe("done");
  });

  test("at most 256 at once, in the order they came", async () => {
    const { runtime, writes, submit, numbers } = begin();
    for (const id of numbers(600)) submit(request(id));
    await runtime.settle();
    expect(writes.map((ids) => ids.length)).toEqual([256, 256, 88]);
    expect(writes.flat()).toEqual(numbers(600));
  });

  test("at most 8 MiB at once, or one request that is larger", async () => {
    const { runtime, writes, submit, numbers } = begin();
    const mebibyte = 1024 * 1024;
    for (const id of numbers(20)) submit(largeCommit(id, id === 18 ? 9 * mebibyte : mebibyte));
    await runtime.settle();
    expect(writes.map((ids) => ids.length)).toEqual([7, 7, 4, 1, 1]);
    expect(writes.flat()).toEqual(numbers(20));
  });

  test("other work of the process goes on between two writes", async () => {
    const { runtime, writes, submit, numbers } = begin();
    const seen: number[] = [];
    for (const id of numbers(600)) submit(request(id));
    const look = (): void => {
      seen.push(writes.length);
      if (writes.length < 3) runtime.drained(look);
    };
    runtime.drained(look);
    await runtime.settle();
    expect(new Set(seen)).toEqual(new Set([1, 2, 3]));
  });

  test("requests with authors' own writes go alone, beside the others", async () => {
    const { runtime, writes, submit } = begin();
    for (const given of [request(0), request(1), withMutations(2), withMutations(3), request(4)])
      submit(given);
    await runtime.settle();
    expect(writes).toEqual([[0, 1, 4], [2], [3]]);
  });

  test("an author's writes that take their time keep nobody else waiting (R-090)", async () => {
    const { runtime, writes, submit } = begin((ids) => (ids.includes(0) ? new Promise(() => {}) : undefined));
    const slow = submit(withMutations(0));
    await runtime.settle();
    const others = [submit(request(1)), submit(withMutations(2)), submit(request(3))];
    await runtime.settle();
    expect(writes).toEqual([[0], [1, 3], [2]]);
    expect(fates([slow, ...others])).toEqual(["open", "done", "done", "done"]);
  });

  test("a few authors write at once, and no more than a few", async () => {
    const { runtime, writes, submit, numbers } = begin(() => new Promise(() => {}));
    for (const id of numbers(10)) submit(withMutations(id));
    await runtime.settle();
    expect(writes).toEqual([[0], [1], [2], [3]]);
  });

  test("settled waits for all of it", async () => {
    const { runtime, group, submit, numbers } = begin();
    const submitted = numbers(300).map((id) => submit(request(id)));
    await group.settled();
    await runtime.settle();
    expect(new Set(fates(submitted))).toEqual(new Set(["done"]));
    await group.settled();
  });
});

describe("a store that takes two writes at once", () => {
  const held = () => {
    let answer!: () => void;
    const first = new Promise<void>((resolve) => {
      answer = resolve;
    });
    return { ...begin((_, call) => (call === 0 ? first : undefined), 2), answer };
  };

  test("gets commits that become ready while a write is under way, and those after them together", async () => {
    const { runtime, writes, submit, answer } = held();
    submit(plainCommit(0));
    await runtime.settle();
    const submitted = [1, 2].map((id) => submit(plainCommit(id)));
    await runtime.settle();
    expect(writes).toEqual([[0], [1, 2]]);
    expect(fates(submitted)).toEqual(["done", "done"]);
    answer();
    await runtime.settle();
  });

  test("gets everything else in the order it was asked for", async () => {
    const { runtime, writes, submit, answer } = held();
    submit(request(0));
    await runtime.settle();
    submit(request(1));
    submit(plainCommit(2));
    await runtime.settle();
    expect(writes).toEqual([[0], [2]]);
    answer();
    await runtime.settle();
    expect(writes).toEqual([[0], [2], [1]]);
  });

  test("gets one write where one is enough", async () => {
    const { runtime, writes, submit } = begin(undefined, 2);
    submit(plainCommit(0));
    await runtime.settle();
    for (const id of [1, 2, 3]) submit(request(id));
    await runtime.settle();
    expect(writes).toEqual([[0], [1, 2, 3]]);
  });
});

test("a bundle is never cut in two, wherever the limit of a group falls", async () => {
  const { runtime, writes, group } = begin();
  const bundle = {};
  for (let id = 0; id < 200; id++) void group.submit(request(id));
  for (let id = 200; id < 300; id++) void group.submit(request(id), { bundle });
  await runtime.settle();
  expect(writes.map((write) => write.length)).toEqual([200, 100]);
});

describe("a write that failed for a passing reason", () => {
  test("conflict: the group is repeated once, with the very same requests", async () => {
    const { runtime, writes, sent, submit, numbers } = begin((_, call) =>
      call === 0 ? failure("conflict") : undefined,
    );
    const submitted = numbers(3).map((id) => submit(request(id)));
    await runtime.advance(2000);
    expect(writes).toEqual([
      [0, 1, 2],
      [0, 1, 2],
    ]);
    expect(sent[1]?.every((given, at) => given === sent[0]?.[at])).toBe(true);
    expect(fates(submitted)).toEqual(["done", "done", "done"]);
  });

  test("conflict again: then entry by entry", async () => {
    const { runtime, writes, submit, numbers } = begin((_, call) =>
      call < 2 ? failure("conflict") : undefined,
    );
    const submitted = numbers(3).map((id) => submit(request(id)));
    await runtime.advance(2000);
    expect(writes.slice(2)).toEqual([[0], [1], [2]]);
    expect(fates(submitted)).toEqual(["done", "done", "done"]);
  });

  test("conflict again with a bundle in it: the bundle stays one write", async () => {
    const { runtime, writes, group } = begin((_, call) => (call < 2 ? failure("conflict") : undefined));
    const bundle = {};
    void group.submit(request(0));
    for (const id of [1, 2, 3]) void group.submit(request(id), { bundle });
    await runtime.advance(2000);
    expect(writes.slice(2)).toEqual([[0], [1, 2, 3]]);
  });

  test.each<StoreFailure>(["unavailable", "ambiguous"])(
    "%s: one request finds out whether the store is back, the others follow together",
    async (kind) => {
      const { runtime, writes, sent, submit, numbers } = begin((_, call) =>
        call === 0 ? failure(kind) : undefined,
      );
      const submitted = numbers(3).map((id) => submit(request(id)));
      await runtime.advance(2000);
      expect(writes).toEqual([[0, 1, 2], [0], [1, 2]]);
      expect(sent[1]?.[0] === sent[0]?.[0]).toBe(true);
      expect(fates(submitted)).toEqual(["done", "done", "done"]);
    },
  );

  test("contention is repeated within milliseconds, an outage after a second and more", async () => {
    const contended = begin((_, call) => (call < 3 ? failure("conflict") : undefined));
    const first = contended.submit(request(0));
    await contended.runtime.advance(40);
    expect(first.is).toBe("done");

    const away = begin((_, call) => (call < 3 ? failure("unavailable") : undefined));
    const second = away.submit(request(0));
    await away.runtime.advance(40);
    expect(away.writes).toHaveLength(1);
    await away.runtime.advance(8000);
    expect(second.is).toBe("done");
  });

  test("a request nobody watches over is given up after five repetitions", async () => {
    const { runtime, writes, submit } = begin(() => failure("unavailable"));
    const fate = submit(request(0));
    await runtime.advance(10 * 60_000);
    expect(fate.is).toBe("unavailable");
    expect(writes).toHaveLength(6);
  });

  test("a commit is repeated for as long as its lease is held, and no longer", async () => {
    const { runtime, writes, submit } = begin(() => failure("unavailable"));
    let leased = true;
    const fate = submit(request(0), () => leased);
    await runtime.advance(10 * 60_000);
    expect(writes.length).toBeGreaterThan(6);
    expect(fate.is).toBe("open");
    leased = false;
    await runtime.advance(60_000);
    expect(fate.is).toBe("unavailable");
  });

  test("a store that comes back is used again", async () => {
    const { runtime, submit } = begin((_, call) => (call < 4 ? failure("unavailable") : undefined));
    const first = submit(request(0));
    await runtime.advance(20_000);
    const second = submit(request(1));
    await runtime.advance(20_000);
    expect(fates([first, second])).toEqual(["done", "done"]);
  });
});

describe("a store that is out of reach (INV-50)", () => {
  const away = (): StoreError => new StoreError("unavailable", "STORE_UNAVAILABLE", "away");

  test("is asked once in a while, not once per request, and what came meanwhile waits", async () => {
    const { runtime, writes, submit, numbers } = begin(() => away());
    for (const id of numbers(100)) submit(request(id), () => true);
    for (let second = 0; second < 10; second += 1) {
      await runtime.advance(1000);
      submit(request(1000 + second), () => true);
    }
    expect(writes.length).toBeLessThanOrEqual(6);
  });

  test("gets everything when it comes back, first one, then ever more at once", async () => {
    const { runtime, writes, submit, numbers } = begin((_, call) => (call < 2 ? away() : undefined));
    const submitted = numbers(5).map((id) => submit(request(id)));
    await runtime.settle();
    submitted.push(submit(request(5)));
    await runtime.advance(10_000);
    expect(writes).toEqual([[0, 1, 2, 3, 4], [0], [1], [2, 3], [4, 5, 0]]);
    expect(fates(submitted)).toEqual(Array(6).fill("done"));
  });

  test("for every second question still gets everything", async () => {
    const { runtime, submit, numbers } = begin((_, call) => (call % 2 === 0 ? away() : undefined));
    const submitted = numbers(20).map((id) => submit(request(id)));
    await runtime.advance("1 minute");
    expect(new Set(fates(submitted))).toEqual(new Set(["done"]));
  });

  test("costs those who wait behind others their lives too, no sooner and not much later", async () => {
    const { runtime, submit, numbers } = begin(() => away());
    const submitted = numbers(50).map((id) => submit(request(id)));
    await runtime.settle();
    submitted.push(submit(request(99)));
    await runtime.advance("15 seconds");
    expect(submitted.at(-1)?.is).toBe("open");
    await runtime.advance("45 seconds");
    expect(new Set(fates(submitted))).toEqual(new Set(["unavailable"]));
  });

  test("for one request only harms only that one, whoever watches over it", async () => {
    const { runtime, submit } = begin((ids) => (ids.includes(1) ? away() : undefined));
    const submitted = [0, 1, 2].map((id) => submit(request(id), () => true));
    await runtime.advance(10_000);
    const later = submit(request(9), () => true);
    await runtime.advance(30_000);
    expect(fates([...submitted, later])).toEqual(["done", "open", "done", "done"]);
  });

  test.each(["STORE_READ_ONLY", "STORE_FULL", "STORE_UNAVAILABLE"] as const)(
    "%s spares it alike",
    async (code) => {
      const { runtime, writes, submit, numbers } = begin(() => new StoreError("unavailable", code, "away"));
      for (const id of numbers(256)) submit(request(id), () => true);
      await runtime.advance(30_000);
      expect(writes.length).toBeLessThan(12);
    },
  );

  test("is asked again within sixteen seconds at the latest, and whoever wants to know hears that it is back", async () => {
    const runtime = createFakeRuntime();
    let isAway = true;
    let backs = 0;
    const store = {
      write: async () => {
        if (isAway) throw away();
        return [{ kind: "woken" }];
      },
    } as unknown as Store;
    const group = new CommitGroup(store, runtime, { onBack: () => backs++ });
    const written = sendWhile(() => true, group, request(0));
    await runtime.advance("10 minutes");
    isAway = false;
    await runtime.advance("16 seconds");
    await expect(written).resolves.toEqual({ kind: "woken" });
    expect(backs).toBe(1);
  });

  test("is not waited for once the app has stopped: all who wait hear so, and no timer is left", async () => {
    const runtime = createFakeRuntime();
    const patience = new Patience(runtime);
    const store = { write: () => Promise.reject(away()) } as unknown as Store;
    const group = new CommitGroup(store, runtime, { patience });
    const waiting = [0, 1].map((id) => sendWhile(() => true, group, request(id)));
    const ended = Promise.allSettled(waiting);
    await runtime.settle();
    patience.stop();
    const reason = { status: "rejected", reason: { code: "APP_STOPPED" } };
    expect(await ended).toMatchObject([reason, reason]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("costs a request that nobody watches over its life after five repetitions", async () => {
    const { runtime, submit } = begin(() => away());
    const fate = submit(request(0));
    await runtime.advance(60_000);
    expect(fate.is).toBe("unavailable");
  });

  test("in the middle of writing entry by entry leaves the rest for later", async () => {
    const { runtime, writes, submit, numbers } = begin((_, call) => {
      if (call === 0) return failure("constraint");
      return call === 2 ? away() : undefined;
    });
    const submitted = numbers(4).map((id) => submit(request(id)));
    await runtime.advance(5000);
    expect(writes).toEqual([[0, 1, 2, 3], [0], [1], [1], [2, 3]]);
    expect(fates(submitted)).toEqual(Array(4).fill("done"));
  });
});

describe("a poisoned entry", () => {
  test.each<StoreFailure>(["fatal", "invalid", "too-large", "constraint"])(
    "%s: fails alone, at once; its neighbours are written",
    async (kind) => {
      const { runtime, writes, submit, numbers } = begin((ids) =>
        ids.includes(2) ? failure(kind) : undefined,
      );
      const submitted = numbers(4).map((id) => submit(request(id)));
      await runtime.settle();
      expect(fates(submitted)).toEqual(["done", "done", kind, "done"]);
      expect(writes).toEqual([[0, 1, 2, 3], [0], [1], [2], [3]]);
    },
  );

  test("one that never gets through harms only itself: neither its group nor those behind it wait for it", async () => {
    const { runtime, submit, numbers } = begin((ids) => (ids.includes(1) ? failure("conflict") : undefined));
    const submitted = numbers(3).map((id) => submit(request(id), () => true));
    await runtime.advance(1000);
    const later = submit(request(9));
    await runtime.advance(1000);
    expect(fates([...submitted, later])).toEqual(["done", "open", "done", "done"]);
  });

  test("an error that is none of the store's is nobody else's either", async () => {
    const { runtime, submit } = begin((ids) => (ids.includes(0) ? new TypeError("mistake") : undefined));
    const submitted = [submit(request(0)), submit(request(1))];
    await runtime.settle();
    expect(fates(submitted)).toEqual(["TypeError: mistake", "done"]);
  });

  test("a request the store forgot to answer is told so", async () => {
    const runtime = createFakeRuntime();
    const store = { write: async () => [{ kind: "woken" }] } as unknown as Store;
    const group = new CommitGroup(store, runtime);
    const submitted = [group.submit(request(0)), group.submit(request(1))];
    const outcomes = Promise.allSettled(submitted);
    await runtime.settle();
    expect(await outcomes).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "STORE_FAILED" } },
    ]);
  });
});
