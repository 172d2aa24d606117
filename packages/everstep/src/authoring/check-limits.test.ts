import { describe, expect, test } from "vitest";
import { createWorkflows } from "../client/create-workflows.ts";
import { defaultLimits } from "../model/limits.ts";
import { memory } from "../stores/memory/index.ts";
import { limitsFrom } from "./check-limits.ts";
import { defineWorkflow } from "./define-workflow.ts";

const from = (given: object) => limitsFrom(given, defaultLimits, "limits", "INVALID_ARGUMENT");

describe("names are no longer than every store has room for", () => {
  test.each([
    ["workflowNameMax", 255],
    ["instanceIdMax", 512],
    ["stepNameMax", 4096],
    ["eventTypeMax", 512],
    ["topicMax", 512],
    ["logCategoryMax", 170],
  ])("%s is at most %d", (name, most) => {
    expect(from({ [name]: most })).toMatchObject({ [name]: most });
    for (const more of [most + 1, 1e6, Number.POSITIVE_INFINITY]) {
      expect(() => from({ [name]: more })).toThrow(
        `limits.${name} is ${more}; it must be a whole number from 1 to ${most}, the longest that every store keeps.`,
      );
    }
  });
});

describe("a page is no larger than pages may be", () => {
  const define = (limits: object) => defineWorkflow({ name: "w", limits }, async () => 1);
  const open = (limits: object, appLimits: object = {}) =>
    createWorkflows({ workflows: { W: define(limits) }, store: memory(), limits: appLimits });

  test("where both are given", () => {
    expect(() => define({ pageSize: 20, pageSizeMax: 10 })).toThrow(
      expect.objectContaining({ code: "INVALID_WORKFLOW_DEFINITION" }),
    );
    expect(() => open({}, { pageSize: 20, pageSizeMax: 10 })).toThrow(
      /pageSize is 20 and pageSizeMax only 10/,
    );
  });

  test("where one of them is the default, or the app's", () => {
    expect(() => open({ pageSize: 1000 })).toThrow(/pageSize is 1000 and pageSizeMax only 100/);
    expect(() => open({}, { pageSize: 1000 })).toThrow(/pageSize is 1000/);
    expect(() => open({ pageSizeMax: 10 })).toThrow(/pageSize is 25 and pageSizeMax only 10/);
    expect(() => open({ pageSize: 1000 }, { pageSizeMax: 1000 })).not.toThrow();
  });
});
