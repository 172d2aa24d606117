import type { InstanceStatus, WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { allowedActions } from "./allowed.ts";

const sleep = { type: "sleep", status: "waiting" } as WireStep;
const slept = { type: "sleep", status: "completed" } as WireStep;

test.each<[InstanceStatus, string]>([
  ["active", "fork pause restart terminate"],
  ["waiting", "fork pause restart terminate"],
  ["paused", "fork restart resume terminate"],
  ["complete", "delete fork restart"],
  ["errored", "delete fork restart retryFailedStep"],
  ["terminated", "delete fork restart"],
])("an instance that is %s may be: %s", (status, expected) => {
  expect([...allowedActions(status, [], { mayRetry: true })].sort().join(" ")).toBe(expected);
});

test.each([{ mayRetry: false }, {}, null])(
  "a retry is offered only once the server would accept it: %j",
  (why) => {
    expect(allowedActions("errored", [], why).has("retryFailedStep")).toBe(false);
  },
);

test("a sleep may be skipped while it lasts, also of a paused instance", () => {
  expect(allowedActions("waiting", [sleep], null).has("skipSleep")).toBe(true);
  expect(allowedActions("paused", [sleep], null).has("skipSleep")).toBe(true);
  expect(allowedActions("waiting", [slept], null).has("skipSleep")).toBe(false);
  expect(allowedActions("terminated", [sleep], null).has("skipSleep")).toBe(false);
});
