import { expect, test } from "vitest";
import { kept, keptFor } from "./kept.ts";

/** Finding it out takes as long as the test says. */
function begin() {
  let now = 0;
  let finds = 0;
  let finish: (value: number) => void = () => {};
  let fail: (problem: unknown) => void = () => {};
  const ask = kept({ monotonic: () => now }, () => {
    finds += 1;
    return new Promise<number>((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
  });
  return {
    ask,
    pass: (ms: number) => {
      now += ms;
    },
    finds: () => finds,
    finish: () => finish(finds),
    fail: () => fail(new Error("no answer")),
  };
}

test("those who ask while it is found out share one answer", async () => {
  const { ask, finds, finish, pass } = begin();
  const answers = [ask(), ask()];
  pass(60_000);
  answers.push(ask());
  finish();
  expect(await Promise.all(answers)).toEqual([1, 1, 1]);
  expect(finds()).toBe(1);
});

test("it is kept for ten times as long as it took, and then found out again", async () => {
  const { ask, finds, finish, pass } = begin();
  const first = ask();
  pass(20);
  finish();
  await first;
  pass(199);
  expect(await ask()).toBe(1);
  pass(1);
  const second = ask();
  finish();
  expect([await second, finds()]).toEqual([2, 2]);
});

test("a failure is told to those who asked, and is not kept", async () => {
  const { ask, finds, finish, fail, pass } = begin();
  const first = ask();
  pass(20);
  fail();
  await expect(first).rejects.toThrow("no answer");
  const second = ask();
  finish();
  expect([await second, finds()]).toEqual([2, 2]);
});

test("what may be out of date by so much is found out again only after that, failures included", async () => {
  let [now, finds] = [0, 0];
  const ask = keptFor({ monotonic: () => now }, 1000, async () => {
    finds += 1;
    if (finds === 2) throw new Error("no answer");
    return finds;
  });
  expect([await ask(), await ask()]).toEqual([1, 1]);
  now = 1000;
  await expect(ask()).rejects.toThrow("no answer");
  now = 1999;
  await expect(ask()).rejects.toThrow("no answer");
  now = 2000;
  expect(await ask()).toBe(3);
});
