import { expect, test } from "vitest";
import { held } from "../../../../tests/support/turn-stage.ts";
import { eachOf } from "./each-of.ts";

test("all are done, never more than a few at once", async () => {
  let now = 0;
  let most = 0;
  const done: number[] = [];
  await eachOf([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++now);
    await null;
    now--;
    done.push(item);
  });
  expect(most).toBe(3);
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("after a failure nothing more is begun", async () => {
  const first = held();
  const begun: number[] = [];
  const all = eachOf([1, 2, 3, 4], 2, async (item) => {
    begun.push(item);
    if (item === 1) await first.promise;
    else throw new Error("out of reach");
  });
  await expect(all).rejects.toThrow("out of reach");
  first.resolve(null);
  await first.promise;
  expect(begun).toEqual([1, 2]);
});
