import { EverstepError } from "everstep/client";
import { expect, test } from "vitest";
import { problemOf } from "../api/problem.ts";

/** As the service and the client say it. */
const said: readonly (readonly [ConstructorParameters<typeof EverstepError>[0], string])[] = [
  [
    "CONNECTION_FAILED",
    "No answer to GET http://h/x, tried 3 times: failed. Is the server running, and is the url right?",
  ],
  [
    "ANSWER_NOT_UNDERSTOOD",
    "http://h/x redirects elsewhere. If that is where the API is, use it as the url of the client.",
  ],
  [
    "ROUTE_NOT_FOUND",
    "There is nothing at /x. GET /openapi.json names everything there is; say so with http: { basePath }.",
  ],
  ["METHOD_NOT_ALLOWED", "DELETE is not offered here; GET, POST is."],
  [
    "ORIGIN_NOT_ALLOWED",
    "A page of another site. If it may, name its origin: http: { cors: { origins: [...] } }.",
  ],
  ["APP_STOPPED", "This app was stopped. Create another with createWorkflows."],
  [
    "STORE_UNAVAILABLE",
    "There was no outcome within 30 seconds; repeat it with the same id or idempotency key.",
  ],
  ["TOO_MANY_STREAMS", "200 streams are open already. Close some, or raise http: { maxStreams }."],
  ["INVALID_CURSOR", "The cursor does not belong to this list. Pass the cursor of the page before."],
  [
    "INSTANCE_ID_ALREADY_EXISTS",
    'Workflow "order" already has it. Use another id, or take it as it is (ifExists).',
  ],
  ["EVENT_BUFFER_FULL", "It holds 10 events. Send fewer, or raise limits.maxBufferedEvents."],
];

/** Of code, of requests and of settings. */
const ofPrograms = /[{}()]|limits\.|createWorkflows|idempotency|cursor|\burl\b|GET |POST |ifExists|API/;

test.each(said)("%s is told in the words of the page", (code, message) => {
  const told = problemOf(new EverstepError(code, message));
  expect(told.code).toBe(code);
  expect(told.message).not.toBe(message);
  expect(told.message).not.toMatch(ofPrograms);
});

test("whether something may have been done is not left out", () => {
  const lost =
    "No answer to POST http://h/x. It may have been carried out all the same: look before you send it again.";
  expect(problemOf(new EverstepError("CONNECTION_FAILED", lost)).message).toContain("may have been done");
});

test("what the service says of this one case is said as it came", () => {
  const message = 'Instance "o-1" is complete and can no longer be paused.';
  expect(problemOf(new EverstepError("INSTANCE_TERMINAL", message)).message).toBe(message);
  const store = "The store does not serve at the moment (STORE_BUSY). Try again.";
  expect(problemOf(new EverstepError("STORE_UNAVAILABLE", store)).message).toBe(store);
});
