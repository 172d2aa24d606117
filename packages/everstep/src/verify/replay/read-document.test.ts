import { describe, expect, test } from "vitest";
import { completed, errored, event, json, waiting } from "../../../../../tests/support/sample-records.ts";
import { type HistoryDocument, historyFormat, historyVersion } from "./history-document.ts";
import { readDocument } from "./read-document.ts";

const document: HistoryDocument = {
  format: historyFormat,
  version: historyVersion,
  redacted: false,
  exportedAt: 1,
  workflowName: "w",
  instanceId: "i",
  runNumber: 1,
  status: "errored",
  params: json({}),
  output: json(1),
  error: { name: "Error", message: "down", cause: { name: "Error", message: "why" }, properties: json({}) },
  terminationReason: null,
  deadLetter: false,
  createdAt: 1,
  startedAt: 1,
  updatedAt: 1,
  completedAt: 1,
  deadlineAt: null,
  parent: { workflowName: "w", instanceId: "outer" },
  begun: [{ key: "d", name: "d", start: 1, at: 1 }],
  steps: [completed({ key: "a" }), errored({ key: "b", index: 1 }), waiting({ key: "c", index: 2 })],
  events: [event({ seq: 1 })],
  logs: [
    {
      seq: 1,
      stepKey: null,
      attempt: null,
      level: "info",
      category: "workflow",
      message: "hello",
      data: json(1),
      isReplay: false,
      createdAt: 1,
    },
  ],
};

/** The document after a trip through text, with one place changed. */
function changed(path: readonly (string | number)[], value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(document));
  const place = path.slice(0, -1).reduce((inner, key) => inner[key], copy);
  if (value === undefined) delete place[path.at(-1) as string];
  else place[path.at(-1) as string] = value;
  return copy;
}

describe("a history document", () => {
  test("is read after a trip through text", () => {
    expect(readDocument(JSON.parse(JSON.stringify(document)))).toEqual(document);
    expect(readDocument(changed(["logs"], undefined))).not.toHaveProperty("logs");
  });

  test.each([
    ["text", "{}", /pass what JSON\.parse makes of it/],
    ["nothing", null, /not a document/],
    ["a list", [], /not a document/],
    ["something else", { steps: [] }, /not a document/],
  ])("that is %s is refused", (_what, given, message) => {
    expect(() => readDocument(given)).toThrow(
      expect.objectContaining({ code: "INVALID_HISTORY", message: expect.stringMatching(message) }),
    );
  });

  test.each([0, 2, "1", undefined])("of format version %s is refused by that version", (version) => {
    expect(() => readDocument(changed(["version"], version))).toThrow(
      expect.objectContaining({ code: "HISTORY_VERSION_UNKNOWN" }),
    );
  });

  test.each<[readonly (string | number)[], unknown, string]>([
    [["status"], "foggy", "history.status is not one of active"],
    [["redacted"], undefined, "history.redacted is not true or false"],
    [["runNumber"], -1, "history.runNumber is not a whole number"],
    [["params"], undefined, "history.params is not an object"],
    [["params", "json"], '{"a":', "history.params cannot be read"],
    [["params", "marks"], '[[["no"],"Date"]]', "history.params cannot be read"],
    [["error", "cause", "message"], 1, "history.error.cause.message is not text"],
    [["steps"], {}, "history.steps is not a list"],
    [["steps", 0], null, "history.steps[0] is not an object"],
    [["steps", 0, "type"], "nap", "history.steps[0].type is not one of do"],
    [["steps", 0, "result"], undefined, "history.steps[0].result is not an object"],
    [["steps", 0, "settledIndex"], undefined, "history.steps[0].settledIndex is not a whole number"],
    [["steps", 0, "createdAt"], "today", "history.steps[0].createdAt is not a number"],
    [["steps", 1, "error"], "down", "history.steps[1].error is not an object"],
    [["steps", 1, "errors", 0, "at"], null, "history.steps[1].errors[0].at is not a number"],
    [["steps", 2, "wakeAt"], null, "history.steps[2].wakeAt is not a number"],
    [["steps", 1, "key"], "a", "two of its steps have the same key"],
    [["steps", 1, "index"], 0, "two of its steps have the same index"],
    [["steps", 1, "settledIndex"], 0, "two of its steps have the same settledIndex"],
    [["begun", 0, "key"], 1, "history.begun[0].key is not text"],
    [["events", 0, "payload"], null, "history.events[0].payload is not an object"],
    [["logs", 0, "message"], null, "history.logs[0].message is not text"],
  ])("damaged at %j (%j) is refused, with the place", (path, value, problem) => {
    expect(() => readDocument(changed(path, value))).toThrow(
      expect.objectContaining({ code: "INVALID_HISTORY", message: expect.stringContaining(problem) }),
    );
  });
});
