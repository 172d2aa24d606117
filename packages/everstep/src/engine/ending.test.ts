import { describe, expect, test } from "vitest";
import { buildDefinition, type WorkflowOptions } from "../authoring/define-workflow.ts";
import type { StandardSchema } from "../authoring/standard-schema.ts";
import type { Claim } from "../model/lease.ts";
import { endOfRun, suspendedTooLong, timeLimitOf } from "./ending.ts";

const definition = (options: Partial<WorkflowOptions> = {}) =>
  buildDefinition({ name: "story", ...options }, () => {}, "everstep");
const end = (outcome: Parameters<typeof endOfRun>[0], options: Partial<WorkflowOptions> = {}) =>
  endOfRun(outcome, definition(options), () => false);

function schema(validate: StandardSchema["~standard"]["validate"]): StandardSchema {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

describe("what a settled function comes to", () => {
  test("a value completes the run, at once", () => {
    expect(end({ ok: true, value: { n: 1 } })).toEqual({
      kind: "complete",
      output: { json: '{"n":1}', marks: null },
    });
  });

  test("nothing is a value too", () => {
    expect(end({ ok: true, value: undefined })).toMatchObject({ kind: "complete" });
  });

  test.each([
    [
      "a cycle is kept or refused, never a crash",
      (() => {
        const a: unknown[] = [];
        a.push(a);
        return a;
      })(),
    ],
    ["a function", () => 1],
  ])("%s", (_, value) => {
    const outcome = end({ ok: true, value });
    expect(["complete", "error"]).toContain((outcome as { kind: string }).kind);
  });

  test("an output over the limit is an error", () => {
    expect(end({ ok: true, value: "x".repeat(99) }, { limits: { maxOutputBytes: 10 } })).toMatchObject({
      kind: "error",
      error: { code: "PAYLOAD_TOO_LARGE" },
    });
  });

  test.each([undefined, null, 0, "", "text", new Error("down"), { strange: true }])(
    "thrown %s is an error",
    (error) => {
      expect(end({ ok: false, error })).toMatchObject({
        kind: "error",
        deadLetter: false,
        error: { name: expect.any(String), message: expect.any(String) },
      });
    },
  );

  test("an error of a step whose retries were used up goes to the dead letters", () => {
    const exhausted = new Error("down");
    const isExhausted = (error: unknown): boolean => error === exhausted;
    expect(endOfRun({ ok: false, error: exhausted }, definition(), isExhausted)).toMatchObject({
      deadLetter: true,
    });
    expect(endOfRun({ ok: false, error: new Error("down") }, definition(), isExhausted)).toMatchObject({
      deadLetter: false,
    });
  });

  test("an output schema gives what it makes of the value", async () => {
    const output = schema((value) => ({ value: `<${value}>` }));
    expect(await end({ ok: true, value: "a" }, { output })).toMatchObject({ output: { json: '"<a>"' } });
  });

  test.each([
    ["refuses", () => ({ issues: [{ message: "too small" }] })],
    ["refuses later", async () => ({ issues: [{ message: "too small" }] })],
    [
      "throws",
      () => {
        throw new Error("too small");
      },
    ],
  ])("a schema that %s errors the run", async (_, validate) => {
    expect(await end({ ok: true, value: 1 }, { output: schema(validate) })).toMatchObject({
      kind: "error",
      error: { code: "WORKFLOW_OUTPUT_INVALID", message: expect.stringContaining("too small") },
    });
  });

  test("an output schema has no say when the function threw", () => {
    const output = schema(() => ({ value: 1 }));
    expect(end({ ok: false, error: new Error("down") }, { output })).toMatchObject({ kind: "error" });
  });
});

describe("when a run must be over", () => {
  const claim = (deadlineAt: number | null): Claim => ({ startedAt: 100, deadlineAt }) as Claim;

  test.each([
    ["never, unless somebody said so", {}, null, null],
    ["at its deadline", {}, 500, { at: 500, source: "deadline" }],
    [
      "its longest run after its start",
      { maxRunDuration: 1000 },
      null,
      { at: 1100, source: "maxRunDuration" },
    ],
    ["at the deadline when that is sooner", { maxRunDuration: 1000 }, 500, { at: 500, source: "deadline" }],
    [
      "at the end of its longest run when that is",
      { maxRunDuration: 10 },
      500,
      { at: 110, source: "maxRunDuration" },
    ],
    ["at the deadline when both are at once", { maxRunDuration: 400 }, 500, { at: 500, source: "deadline" }],
  ])("%s", (_, options, deadlineAt, expected) => {
    const limit = timeLimitOf(definition(options), claim(deadlineAt));
    expect(limit && { at: limit.at, source: limit.reason.source }).toEqual(expected);
  });

  test("the reasons can be read", () => {
    expect(timeLimitOf(definition({ maxRunDuration: "1 hour" }), claim(null))?.reason.message).toContain(
      "1 hour",
    );
    expect(suspendedTooLong(60_000)).toEqual({
      source: "maxSuspendDuration",
      message: expect.stringContaining("1 minute"),
    });
  });
});
