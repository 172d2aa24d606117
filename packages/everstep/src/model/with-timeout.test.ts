import { expect, test } from "vitest";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { timedOut, withTimeout } from "./with-timeout.ts";

function held<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Value>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

test("gives what the work comes to, and leaves no timer", async () => {
  const runtime = createFakeRuntime();
  await expect(withTimeout(runtime, 1000, Promise.resolve("done"))).resolves.toBe("done");
  await expect(withTimeout(runtime, 1000, Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(runtime.nextTimerAt()).toBeNull();
});

test("says that the time was up; what comes later is nobody's, also where it fails", async () => {
  const runtime = createFakeRuntime();
  const work = held<string>();
  const outcome = withTimeout(runtime, 1000, work.promise);
  await runtime.advance(1000);
  await expect(outcome).resolves.toBe(timedOut);
  work.reject(new Error("too late"));
  await runtime.settle();
});
