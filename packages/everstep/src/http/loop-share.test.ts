import { expect, test } from "vitest";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { LoopShare } from "./loop-share.ts";

test("reads that leave nobody else a turn are made one by one, with rests as long as they took", async () => {
  const fake = createFakeRuntime();
  let now = 0;
  const rests: number[] = [];
  const share = new LoopShare({
    monotonic: () => now,
    drained: fake.drained.bind(fake),
    timer(callback, ms) {
      rests.push(ms);
      now += ms;
      queueMicrotask(callback);
      return { cancel: () => {} };
    },
  });
  const made = await Promise.all(
    Array.from({ length: 3 }, (_, n) =>
      share.run(async () => {
        now += 40;
        return n;
      }),
    ),
  );
  expect([made, rests]).toEqual([
    [0, 1, 2],
    [40, 40, 40],
  ]);
});

test("reads that wait for a server are not held up", async () => {
  const share = new LoopShare(createFakeRuntime());
  const answers: (() => void)[] = [];
  const reads = [1, 2].map(() => share.run(() => new Promise<void>((resolve) => answers.push(resolve))));
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(answers).toHaveLength(2);
  for (const answer of answers) answer();
  await Promise.all(reads);
});
