import { expect, test } from "vitest";
import { createFakeRuntime } from "../../testing/fake-runtime.ts";
import { ReadingLane } from "./reading-lane.ts";

test("a client with many streams does not keep the news from others, and a read that fails holds up nobody", async () => {
  const lane = new ReadingLane(createFakeRuntime());
  const read: string[] = [];
  const reads = ["many 1", "many 2", "many 3", "many 4", "few 1", "few 2"].map((name) =>
    lane.run(name.slice(0, -2), async () => {
      read.push(name);
      if (name === "many 2") throw new Error(name);
      return name;
    }),
  );
  const outcomes = await Promise.allSettled(reads);
  expect(read).toEqual(["many 1", "many 2", "few 1", "many 3", "few 2", "many 4"]);
  expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([true, false, true, true, true, true]);
});
