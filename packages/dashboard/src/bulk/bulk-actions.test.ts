import { expect, test } from "vitest";
import { statuses } from "../words/statuses.ts";
import { bulkActions } from "./bulk-actions.ts";

test("each action is sent only to those that it can do something to", () => {
  const forWhom = Object.fromEntries(
    bulkActions.map(({ name, isFor }) => [
      name,
      statuses.filter((status) => isFor({ workflowName: "order", instanceId: "1", status })),
    ]),
  );
  expect(forWhom).toEqual({
    pause: ["active", "waiting"],
    resume: ["paused"],
    retryFailedStep: ["errored"],
    restart: statuses,
    terminate: ["active", "waiting", "paused"],
    delete: ["complete", "errored", "terminated"],
  });
});
