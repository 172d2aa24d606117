import { describe, expect, test } from "vitest";
import type { StandardSchema } from "../authoring/standard-schema.ts";
import { paramsSchemaOf } from "./params-schema.ts";

const standard = { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) };
const shape = { type: "object" };
const schema = (more: object, inside: object = {}) =>
  ({ "~standard": { ...standard, ...inside }, ...more }) as unknown as StandardSchema;

describe("the params of a workflow as JSON Schema", () => {
  test.each([
    ["by the standard's own way", schema({}, { jsonSchema: { input: () => shape } }), shape],
    ["by a method of the schema", schema({ toJSONSchema: () => shape }), shape],
    ["by a method in other letters", schema({ toJsonSchema: () => shape }), shape],
    ["not where there is none", schema({}), undefined],
    ["not where there is no schema", undefined, undefined],
  ])("%s", (_how, given, expected) => {
    expect(paramsSchemaOf(given)).toEqual(expected);
  });

  test("are asked for in the words of 2020-12", () => {
    const asked: unknown[] = [];
    paramsSchemaOf(schema({}, { jsonSchema: { input: (terms: unknown) => asked.push(terms) } }));
    expect(asked).toEqual([{ target: "draft-2020-12" }]);
  });

  test("are left out where the schema cannot say them", () => {
    const failing = schema({
      toJSONSchema() {
        throw new Error("A transformation has no JSON Schema.");
      },
    });
    expect(paramsSchemaOf(failing)).toBeUndefined();
  });
});
