import { expect, test } from "vitest";
import type { InstanceStatus } from "../model/instance.ts";
import { DecisionWatch } from "./decision-watch.ts";
import type { RunnerParts } from "./runner-parts.ts";

/** What a turn hears when the store says that its instance has this status. */
async function heardOf(status: InstanceStatus | undefined, canBeRecalled = true): Promise<readonly string[]> {
  const heard: string[] = [];
  const turn = {
    ref: { workflowName: "w", instanceId: "i" },
    canBeRecalled,
    askBeforeNextBody: () => heard.push("asks before its next body"),
    resumed: () => heard.push("is not paused"),
    abandon: ({ message }: Error) => heard.push(message),
  };
  const store = { getStatuses: async () => [status] };
  const setup = {
    store,
    onProblem: (problem: unknown) => {
      throw problem;
    },
  };
  new DecisionWatch({ setup, turns: { all: [turn] } } as unknown as RunnerParts).look();
  await new Promise((resolve) => setTimeout(resolve));
  return heard;
}

test.each<[InstanceStatus | undefined, string]>([
  ["paused", "asks before its next body"],
  ["active", "is not paused"],
  ["terminated", "The instance is terminated."],
  [undefined, "The instance was deleted."],
])("a turn of an instance that is %s hears of it", async (status, word) => {
  expect(await heardOf(status)).toEqual([word]);
});

test("a turn that is about to end hears of nothing", async () => {
  expect(await heardOf("active", false)).toEqual([]);
});
