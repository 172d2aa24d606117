import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type InferInput,
  type InferOutput,
  type StandardSchema,
  type Validation,
  validateWith,
} from "./standard-schema.ts";

function schemaOf<Output>(
  validate: (value: unknown) => Validation<Output> | Promise<Validation<Output>>,
): StandardSchema<unknown, Output> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

describe("validateWith", () => {
  test("gives back what the schema made of the value", async () => {
    expect(
      await validateWith(
        schemaOf((value) => ({ value: Number(value) })),
        "5",
      ),
    ).toEqual({ value: 5 });
    expect(
      await validateWith(
        schemaOf(async (value) => ({ value: [value] })),
        "5",
      ),
    ).toEqual({ value: ["5"] });
    expect(
      await validateWith(
        schemaOf(() => ({ value: undefined })),
        "5",
      ),
    ).toEqual({ value: undefined });
  });

  test("gives back the issues", async () => {
    const issues = [{ message: "must be positive", path: ["lines", 0, { key: "qty" }] }];
    expect(
      await validateWith(
        schemaOf(() => ({ issues })),
        {},
      ),
    ).toEqual({ issues });
    expect(
      await validateWith(
        schemaOf(async () => ({ issues })),
        {},
      ),
    ).toEqual({ issues });
    expect(
      await validateWith(
        schemaOf(() => ({ issues: [] })),
        {},
      ),
    ).toEqual({ issues: [] });
  });

  test("takes a validator that throws for one that found an issue", async () => {
    const sync = schemaOf(() => {
      throw new Error("cannot say");
    });
    const later = schemaOf(async () => {
      throw "no idea";
    });
    const unspeakable = schemaOf(() => {
      throw { toString: null };
    });
    const silent = schemaOf(() => undefined as never);
    expect(await validateWith(sync, {})).toEqual({ issues: [{ message: "cannot say" }] });
    expect(await validateWith(later, {})).toEqual({ issues: [{ message: "no idea" }] });
    expect(await validateWith(unspeakable, {})).toEqual({ issues: [{ message: expect.any(String) }] });
    expect(await validateWith(silent, {})).toEqual({ issues: [{ message: expect.any(String) }] });
  });
});

describe("the types", () => {
  test("are those of the specification", () => {
    expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
    expectTypeOf<StandardSchema<string, number>>().toExtend<StandardSchemaV1<string, number>>();
    expectTypeOf<StandardSchema<string, number>>().toExtend<StandardSchema>();
  });

  test("say what goes in and what comes out", () => {
    type Schema = StandardSchemaV1<{ at: string }, { at: Date }>;
    expectTypeOf<InferInput<Schema>>().toEqualTypeOf<{ at: string }>();
    expectTypeOf<InferOutput<Schema>>().toEqualTypeOf<{ at: Date }>();
  });
});
