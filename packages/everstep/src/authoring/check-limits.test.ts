import { describe, expect, test } from "vitest";
import { createWorkflows } from "../client/create-workflows.ts";
import { defaultLimits } from "../model/limits.ts";
import { memory } from "../stores/memory/index.ts";
import { defaultLimitOptions, limitsFrom } from "./check-limits.ts";
import { defineWorkflow } from "./define-workflow.ts";

const from = (given: object) => limitsFrom(given, defaultLimits, "limits", "INVALID_ARGUMENT");

describe("names are no longer than every store has room for", () => {
  test.each([
    ["maxWorkflowNameLength", 255],
    ["maxInstanceIdLength", 512],
    ["maxStepNameLength", 4096],
    ["maxEventTypeLength", 512],
    ["maxTopicLength", 512],
    ["maxLogCategoryLength", 170],
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
    expect(() => define({ pageSize: 20, maxPageSize: 10 })).toThrow(
      expect.objectContaining({ code: "INVALID_WORKFLOW_DEFINITION" }),
    );
    expect(() => open({}, { pageSize: 20, maxPageSize: 10 })).toThrow(
      /pageSize is 20 and maxPageSize only 10/,
    );
  });

  test("where one of them is the default, or the app's", () => {
    expect(() => open({ pageSize: 1000 })).toThrow(/pageSize is 1000 and maxPageSize only 100/);
    expect(() => open({}, { pageSize: 1000 })).toThrow(/pageSize is 1000/);
    expect(() => open({ maxPageSize: 10 })).toThrow(/pageSize is 25 and maxPageSize only 10/);
    expect(() => open({ pageSize: 1000 }, { maxPageSize: 1000 })).not.toThrow();
  });
});

describe("limits that are times", () => {
  test("take durations, and are kept in milliseconds", () => {
    expect(
      from({ maxSleep: "30 days", stallTimeout: 1500, maxStepTimeout: Number.POSITIVE_INFINITY }),
    ).toMatchObject({
      maxSleepMs: 30 * 24 * 60 * 60 * 1000,
      stallTimeoutMs: 1500,
      maxStepTimeoutMs: Number.POSITIVE_INFINITY,
    });
    expect(from({ minWaitTimeout: 0 })).toMatchObject({ minWaitTimeoutMs: 0 });
  });

  test("are not known by their name with a unit", () => {
    expect(() => from({ maxSleepMs: 1000 })).toThrow(
      'limits.maxSleepMs is no limit. Did you mean "maxSleep"?',
    );
  });

  test.each([0, -1, Number.NaN, "soon", null])("are refused when they are %s", (value) => {
    expect(() => from({ stallTimeout: value })).toThrow(/^limits.stallTimeout is .*; it must be a duration/);
  });

  test("the public defaults can be given back", () => {
    expect(from(defaultLimitOptions)).toEqual(defaultLimits);
  });
});
