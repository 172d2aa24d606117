import { expect, test } from "vitest";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { Body } from "./body.ts";
import { BodyTimeouts } from "./body-timeouts.ts";
import { Call } from "./call.ts";

const nothing = {
  options: null,
  wakeAt: null,
  durationMs: null,
  eventType: null,
  topic: null,
  onConsume: null,
};

function begin() {
  const runtime = createFakeRuntime();
  let running: Body[] = [];
  const timeouts = new BodyTimeouts(runtime, () => running);
  const ended: string[] = [];
  const end = (body: Body): void => {
    running = running.filter((other) => other !== body);
  };
  const start = (name: string, timeoutMs: number): Body => {
    const body = new Body(
      new Call({ type: "do", name, callback: null, ...nothing }, name, 1, null, undefined),
      1,
      0,
    );
    running.push(body);
    timeouts.watch(body, timeoutMs);
    void body.run(
      () => new Promise(() => {}),
      (outcome) => {
        end(body);
        ended.push(`${name}: ${outcome.ok ? "done" : (outcome.error as Error).name}`);
      },
    );
    return body;
  };
  return { runtime, timeouts, start, end, ended };
}

test("a body that takes too long is ended when its time is up, not before, and no other", async () => {
  const { runtime, start, ended } = begin();
  start("long", 1000);
  start("short", 100);
  await runtime.advance(99);
  expect(ended).toEqual([]);
  await runtime.advance(1);
  expect(ended).toEqual(["short: StepTimeoutError"]);
  await runtime.advance(899);
  expect(ended).toHaveLength(1);
  await runtime.advance(1);
  expect(ended).toEqual(["short: StepTimeoutError", "long: StepTimeoutError"]);
});

test("a timer that was set for a body that is over serves those after it", async () => {
  const { runtime, start, end, ended } = begin();
  const first = start("first", 100);
  await runtime.advance(50);
  end(first);
  start("second", 100);
  await runtime.advance(50);
  expect(ended).toEqual([]);
  await runtime.advance(50);
  expect(ended).toEqual(["second: StepTimeoutError"]);
  expect(runtime.nextTimerAt()).toBeNull();
});

test("a body without a limit sets no timer, and a turn that is over leaves none", () => {
  const { runtime, timeouts, start } = begin();
  start("free", Number.POSITIVE_INFINITY);
  expect(runtime.nextTimerAt()).toBeNull();
  start("limited", 100);
  timeouts.clear();
  expect(runtime.nextTimerAt()).toBeNull();
});
