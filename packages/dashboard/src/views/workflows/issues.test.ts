import { expect, test } from "vitest";
import { issuesOf, placeIssues } from "./issues.ts";
import { fieldOfSchema } from "./schema-fields.ts";

const field = fieldOfSchema({
  type: "object",
  properties: {
    email: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    address: { type: "object", properties: { city: { type: "string" } } },
    any: {},
  },
});

test("what the service says is read, however a schema library writes its paths", () => {
  const issues = [
    { message: "a", path: ["email"] },
    { message: "b", path: [{ key: "tags" }, { key: 0 }] },
    { message: "c" },
    { path: [] },
    null,
  ];
  expect(issuesOf({ code: "WORKFLOW_PARAMS_INVALID", message: "", details: { issues } })).toEqual([
    { message: "a", path: ["email"] },
    { message: "b", path: ["tags", 0] },
    { message: "c", path: [] },
  ]);
  expect(issuesOf({ code: "FORBIDDEN", message: "", details: { issues } })).toEqual([]);
});

test("each issue is shown at its field, or at the nearest around it", () => {
  const placed = placeIssues(field, [
    { path: ["email"], message: "bad" },
    { path: ["tags", 2], message: "odd" },
    { path: ["address", "city"], message: "unknown" },
    { path: ["any", "deep", 1], message: "wrong" },
    { path: ["other"], message: "lost" },
    { path: [], message: "all" },
  ]);
  expect(Object.fromEntries(placed)).toEqual({
    '["email"]': "bad",
    '["tags",2]': "odd",
    '["address","city"]': "unknown",
    '["any"]': "deep.1: wrong",
    "[]": "other: lost all",
  });
});
