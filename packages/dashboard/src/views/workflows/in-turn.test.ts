import { expect, test } from "vitest";
import { inTurn } from "./in-turn.ts";

test("answers come in the order of what was asked, at most so many at once", async () => {
  let now = 0;
  let most = 0;
  const answers = await inTurn([3, 1, 2, 0], 2, async (item) => {
    most = Math.max(most, ++now);
    for (let n = 0; n < item; n++) await Promise.resolve();
    now--;
    return item * 10;
  });
  expect([answers, most]).toEqual([[30, 10, 20, 0], 2]);
});
