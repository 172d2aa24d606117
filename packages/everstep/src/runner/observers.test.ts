import { afterEach, describe, expect, test, vi } from "vitest";
import { type Notice, type Observer, observerNames } from "../model/observer.ts";
import { Observers } from "./observers.ts";

const retry = {
  ...{ workflowName: "w", instanceId: "i", runNumber: 1, stepKey: "s", stepName: "s" },
  ...{ attempt: 1, error: null, retryAt: 5 },
};

/** An observer that keeps what it is told of. */
function listener() {
  const heard: string[] = [];
  const observer: Observer = {
    onRetry: ({ stepKey }) => heard.push(`retry of ${stepKey}`),
    onNotice: ({ message }: Notice) => heard.push(message),
  };
  return { heard, observer };
}

const unhandled = vi.fn();
process.on("unhandledRejection", unhandled);
afterEach(() => unhandled.mockClear());

test("while nobody listens there is nothing to call, so nothing is made for nobody", () => {
  const observers = new Observers();
  expect(Object.keys(observers.all)).toEqual(Object.keys(observerNames));
  expect(Object.values(observers.all).filter((method) => method !== undefined)).toEqual([]);
  const make = vi.fn(() => retry);
  observers.all.onRetry?.(make());
  expect(make).not.toHaveBeenCalled();
});

test("everybody who has the method is told, in the order they came, until they are taken out", () => {
  const [one, other] = [listener(), listener()];
  const observers = new Observers([one.observer]);
  const remove = observers.add(other.observer);
  observers.all.onRetry?.(retry);
  remove();
  remove();
  observers.all.onRetry?.(retry);
  expect([one.heard.length, other.heard.length]).toEqual([2, 1]);
  expect(observers.all.onClaim).toBeUndefined();
});

test("one that is there twice is told twice, and taken out one at a time", () => {
  const { observer, heard } = listener();
  const observers = new Observers([observer]);
  observers.add(observer)();
  observers.all.onRetry?.(retry);
  expect(heard).toEqual(["retry of s"]);
});

test("methods of a class keep their object, and a start and its end get the same one", () => {
  class Spans implements Observer {
    readonly open = new Map<object, string>();
    readonly ended: string[] = [];
    onStoreCallStart(call: object) {
      this.open.set(call, "span");
    }
    onStoreCallEnd(call: object) {
      this.ended.push(this.open.get(call) ?? "unknown");
    }
  }
  const spans = new Spans();
  const { all } = new Observers([spans]);
  const call = { verb: "write", size: 1 };
  all.onStoreCallStart?.(call);
  all.onStoreCallEnd?.(call, { outcome: "ok", durationMs: 1, error: null });
  expect(spans.ended).toEqual(["span"]);
});

describe("an observer that fails", () => {
  const fails = (): never => {
    throw new TypeError("no network");
  };
  const once =
    "An observer failed in onRetry, which harms nothing else and is said once: TypeError: no network";

  test("harms neither whoever tells it nor its neighbours, and is reported once", () => {
    const { observer, heard } = listener();
    const observers = new Observers([{ onRetry: fails }, observer]);
    observers.all.onRetry?.(retry);
    observers.all.onRetry?.(retry);
    expect(heard).toEqual([once, "retry of s", "retry of s"]);
  });

  test("later, by a promise that is rejected, does not take the process along either", async () => {
    const { observer, heard } = listener();
    const observers = new Observers([{ onRetry: async () => fails() }, observer]);
    observers.all.onRetry?.(retry);
    observers.all.onRetry?.(retry);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heard).toEqual(["retry of s", "retry of s", once]);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test("with the notices themselves has nobody to tell, and that is all", () => {
    const { observer, heard } = listener();
    const observers = new Observers([{ onNotice: fails }, observer, { onRetry: fails }]);
    observers.all.onRetry?.(retry);
    observers.all.onNotice?.({ workflowName: null, instanceId: null, message: "a word" });
    expect(heard.filter((line) => !line.startsWith("An observer failed in onNotice"))).toEqual([
      "retry of s",
      once,
      "a word",
    ]);
  });

  test("by throwing what cannot be looked at is reported all the same", () => {
    const { observer, heard } = listener();
    const hostile = new Proxy(
      {},
      {
        get: fails,
        getPrototypeOf: fails,
      },
    );
    const throwsIt = (): never => {
      throw hostile;
    };
    new Observers([{ onRetry: throwsIt }, observer]).all.onRetry?.(retry);
    expect(heard).toHaveLength(2);
  });
});
