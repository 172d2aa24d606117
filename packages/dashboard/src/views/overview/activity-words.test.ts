import { expect, test } from "vitest";
import { endedWords, errorWords } from "./activity-words.ts";

test("what is counted is runs that ended, each time they did", () => {
  expect(endedWords({ ended: 23 }, "last hour")).toBe(
    "23 runs ended in the last hour; a retried one counts each time it ended, one that a person terminated does not",
  );
  expect(endedWords({ ended: 1 }, "last hour")).toMatch(/^1 run ended in the last hour;/);
});

test("the error rate is a share of those, and there is none where nothing ended", () => {
  expect(errorWords({ ended: 11, errored: 3 }, "last hour")).toBe("27 % of 11 errored in the last hour");
  expect(errorWords({ ended: 0, errored: 0 }, "last hour")).toBe("No runs ended in the last hour");
  expect(endedWords({ ended: 0 }, "last hour")).toBe("No runs ended in the last hour");
});
