import { expect, test } from "vitest";
import type { Nudge, NudgeListener, Store } from "../store/store.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { NudgeWatch } from "./nudge-watch.ts";

const due: Nudge = { due: true, changed: false, ended: false };

function begin() {
  const runtime = createFakeRuntime();
  const server = { isAway: false, subscriptions: [] as NudgeListener[], stopped: 0 };
  const store = {
    async subscribe(listener: NudgeListener) {
      if (server.isAway) throw new Error("away");
      server.subscriptions.push(listener);
      return () => {
        server.stopped += 1;
      };
    },
  } as unknown as Store & { probeNudges: Store["probeNudges"] };
  const problems: unknown[] = [];
  const watch = new NudgeWatch({ store, runtime, onProblem: (problem) => problems.push(problem) });
  return { runtime, server, watch, problems, store };
}

const anything: Nudge = { due: true, changed: true, ended: true };

test("it listens once somebody wants to hear, once for all", async () => {
  const { runtime, server, watch } = begin();
  expect(server.subscriptions).toHaveLength(0);
  const heard: string[] = [];
  const stopHearing = watch.hear(() => heard.push("first"));
  watch.hear(() => heard.push("second"));
  await runtime.settle();
  expect(server.subscriptions).toHaveLength(1);
  heard.length = 0;
  server.subscriptions[0]?.onNudge(due);
  stopHearing();
  server.subscriptions[0]?.onNudge(due);
  expect(heard).toEqual(["first", "second", "second"]);
});

test("what others told before it listened is made up for, the first time too (R-027)", async () => {
  const { runtime, watch } = begin();
  const heard: Nudge[] = [];
  watch.hear((nudge) => heard.push(nudge));
  expect(heard).toEqual([]);
  await runtime.settle();
  expect(heard).toEqual([anything]);
});

test("a connection that broke is made again, and what was missed meanwhile is made up for", async () => {
  const { runtime, server, watch } = begin();
  const heard: Nudge[] = [];
  watch.hear((nudge) => heard.push(nudge));
  await runtime.settle();
  expect(watch.isListening).toBe(true);
  server.subscriptions[0]?.onLost(new Error("reset"));
  expect(watch.isListening).toBe(false);
  // Whoever relied on it looks at once, and again when it is back.
  expect(heard).toEqual([anything, anything]);
  await runtime.advance("2 seconds");
  expect(server.subscriptions).toHaveLength(2);
  expect(heard).toEqual([anything, anything, anything]);
});

test("a server that is away is tried ever less often, and told of once", async () => {
  const { runtime, server, watch, problems } = begin();
  server.isAway = true;
  watch.hear(() => {});
  await runtime.advance("10 minutes");
  expect(problems).toHaveLength(1);
  server.isAway = false;
  await runtime.advance("2 minutes");
  expect(watch.isListening).toBe(true);
});

test("a connection that may be dead without a word is replaced every two minutes, and nothing is missed (R-027)", async () => {
  const { runtime, server, watch } = begin();
  const heard: Nudge[] = [];
  watch.hear((nudge) => heard.push(nudge));
  await runtime.advance("119 seconds");
  expect(server.subscriptions).toHaveLength(1);
  await runtime.advance("1 second");
  expect([server.subscriptions.length, server.stopped, watch.isListening]).toEqual([2, 1, true]);
  expect(heard).toEqual([anything, anything]);
  server.subscriptions[1]?.onLost(new Error("reset"));
  await runtime.advance("2 seconds");
  expect([server.subscriptions.length, server.stopped]).toEqual([3, 1]);
});

test("a connection that does not answer is replaced within seconds, and nothing is missed", async () => {
  const { runtime, server, watch, store } = begin();
  const signals: AbortSignal[] = [];
  let isSilent = false;
  store.probeNudges = async (signal: AbortSignal) => {
    signals.push(signal);
    if (isSilent) await new Promise(() => {});
  };
  const heard: Nudge[] = [];
  watch.hear((nudge) => heard.push(nudge));
  await runtime.advance("100 seconds");
  expect(signals).toHaveLength(10);
  expect(server.subscriptions).toHaveLength(1);
  heard.length = 0;
  isSilent = true;
  await runtime.advance("15 seconds");
  expect(signals[10]?.aborted).toBe(true);
  expect([server.stopped, watch.isListening]).toEqual([1, false]);
  // The store may tell of it too.
  server.subscriptions[0]?.onLost(new Error("given up"));
  isSilent = false;
  await runtime.advance("1 second");
  expect([server.subscriptions.length, watch.isListening]).toEqual([2, true]);
  expect(heard).toEqual([anything, anything]);
  await runtime.advance("20 seconds");
  expect(signals).toHaveLength(13);
  watch.stop();
  expect(runtime.nextTimerAt()).toBeNull();
});

test("a connection on which a question fails is replaced too", async () => {
  const { runtime, server, watch, store } = begin();
  let failures = 1;
  store.probeNudges = async () => {
    if (failures-- > 0) throw new Error("reset");
  };
  watch.hear(() => {});
  await runtime.advance("11 seconds");
  expect([server.subscriptions.length, server.stopped, watch.isListening]).toEqual([2, 1, true]);
});

test("a server that stays away after a connection broke is told of too", async () => {
  const { runtime, server, watch, problems } = begin();
  watch.hear(() => {});
  await runtime.settle();
  server.isAway = true;
  server.subscriptions[0]?.onLost(new Error("reset"));
  await runtime.advance("1 hour");
  expect(problems).toHaveLength(1);
});

test("a connection that breaks as it is made leaves one try after the other, never two at once", async () => {
  const runtime = createFakeRuntime();
  let subscriptions = 0;
  const store = {
    async subscribe(listener: NudgeListener) {
      subscriptions += 1;
      listener.onLost(new Error("at once"));
      return () => {};
    },
  } as unknown as Store;
  const watch = new NudgeWatch({ store, runtime, onProblem: () => {} });
  watch.hear(() => {});
  await runtime.advance("10 minutes");
  expect(subscriptions).toBeLessThan(120);
  watch.stop();
  expect(runtime.nextTimerAt()).toBeNull();
});

test("one who cannot bear the news keeps nobody else from hearing it", async () => {
  const { runtime, server, watch, problems } = begin();
  const heard: Nudge[] = [];
  watch.hear(() => {
    throw new Error("no");
  });
  watch.hear((nudge) => heard.push(nudge));
  await runtime.settle();
  server.subscriptions[0]?.onNudge(due);
  expect(heard).toEqual([anything, due]);
  expect(problems).toHaveLength(2);
});

test("with nobody left to hear it stops listening after a while, and begins again with the next", async () => {
  const { runtime, server, watch } = begin();
  const stopHearing = watch.hear(() => {});
  await runtime.settle();
  stopHearing();
  await runtime.advance("10 seconds");
  expect([server.stopped, runtime.nextTimerAt()]).toEqual([1, null]);
  watch.hear(() => {});
  await runtime.settle();
  expect(server.subscriptions).toHaveLength(2);
});

test("stopped it listens no more and leaves no timer, also in the middle of subscribing", async () => {
  const { runtime, server, watch } = begin();
  watch.hear(() => {});
  watch.stop();
  await runtime.settle();
  expect(server.stopped).toBe(1);
  server.subscriptions[0]?.onLost(new Error("closed"));
  expect(runtime.nextTimerAt()).toBeNull();
});

test("a store without nudges is never asked", async () => {
  const runtime = createFakeRuntime();
  const watch = new NudgeWatch({ store: {} as Store, runtime, onProblem: () => {} });
  watch.hear(() => {});
  await runtime.settle();
  expect(watch.isListening).toBe(false);
});
