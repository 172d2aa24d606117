import { describe, expect, test } from "vitest";
import { type Field, fieldOfSchema } from "./schema-fields.ts";

const inside = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => {
  const field = fieldOfSchema({ type: "object", properties, ...more });
  if (field.kind !== "group") throw new Error(`It is shown as ${field.kind}.`);
  return Object.fromEntries(field.fields.map(({ name, field: each }) => [name, each])) as Record<
    string,
    Field
  >;
};

describe("a form has a field for every kind of value", () => {
  test("texts, numbers, flags, choices and lists", () => {
    const fields = inside({
      name: { type: "string", minLength: 1, maxLength: 9 },
      email: { type: "string", format: "email" },
      at: { type: "string", format: "date-time" },
      seats: { type: "integer", minimum: 1, exclusiveMaximum: 500 },
      isNews: { type: "boolean" },
      plan: { enum: ["free", "team"] },
      version: { const: 2 },
      tags: { type: "array", items: { type: "string" }, maxItems: 3 },
    });
    expect(fields.name).toMatchObject({ kind: "text", format: "plain", lengthMin: 1, lengthMax: 9 });
    expect(fields.email).toMatchObject({ kind: "text", format: "email" });
    expect(fields.at).toMatchObject({ kind: "text", format: "time" });
    expect(fields.seats).toMatchObject({
      kind: "number",
      isWhole: true,
      min: { value: 1, isIn: true },
      max: { value: 500, isIn: false },
    });
    expect(fields.isNews).toMatchObject({ kind: "flag" });
    expect(fields.plan).toMatchObject({ kind: "choice", options: ["free", "team"] });
    expect(fields.version).toMatchObject({ kind: "choice", options: [2] });
    expect(fields.tags).toMatchObject({ kind: "list", item: { kind: "text" }, itemsMax: 3 });
  });

  test("objects in objects", () => {
    const fields = inside({ address: { type: "object", properties: { city: { type: "string" } } } });
    expect(fields.address).toMatchObject({ kind: "group", fields: [{ name: "city" }] });
  });

  test("with what the schema says about them", () => {
    const fields = inside(
      { plan: { type: "string", title: "The plan", description: "How much", default: "free" }, x: {} },
      { required: ["plan"] },
    );
    expect(fields.plan).toMatchObject({ label: "The plan", description: "How much", default: "free" });
    expect([fields.plan?.isRequired, fields.x?.isRequired]).toEqual([true, false]);
  });
});

describe("what schema libraries write differently comes to the same", () => {
  test("null beside another type", () => {
    const fields = inside({
      a: { type: ["string", "null"] },
      b: { anyOf: [{ type: "string" }, { type: "null" }] },
      c: { oneOf: [{ type: "string" }, { const: null }] },
      d: { enum: ["x", null] },
    });
    for (const name of ["a", "b", "c", "d"]) expect(fields[name]?.isNullable, name).toBe(true);
    expect(fields.a?.kind).toBe("text");
    expect(fields.b?.kind).toBe("text");
    expect(fields.d).toMatchObject({ kind: "choice", options: ["x"] });
  });

  test("choices as constants beside each other", () => {
    const fields = inside({ a: { anyOf: [{ const: "x" }, { const: "y" }, { enum: [1, 2] }] } });
    expect(fields.a).toMatchObject({ kind: "choice", options: ["x", "y", 1, 2] });
  });

  test("references into definitions", () => {
    const fields = inside(
      { home: { $ref: "#/$defs/Address", description: "Where" }, nowhere: { $ref: "#/$defs/None" } },
      { $defs: { Address: { type: "object", properties: { city: { type: "string" } } } } },
    );
    expect(fields.home).toMatchObject({ kind: "group", description: "Where" });
    expect(fields.nowhere?.kind).toBe("json");
  });

  test("bounds that only computers need are left out", () => {
    const fields = inside({ n: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 } });
    expect(fields.n).toMatchObject({ min: null, max: null });
  });
});

describe("what no field can show is JSON", () => {
  test.each([
    ["several types", { type: ["string", "number"] }],
    ["alternatives", { anyOf: [{ type: "string" }, { type: "object", properties: { a: {} } }] }],
    ["lists of objects", { type: "array", items: { type: "object", properties: { a: {} } } }],
    ["any names", { type: "object", additionalProperties: { type: "string" } }],
    ["anything", {}],
    ["a schema that is none", true],
  ])("%s", (_, schema) => {
    expect(inside({ it: schema }).it?.kind).toBe("json");
  });

  test("a schema that names itself ends", () => {
    const tree = { $ref: "#/$defs/Tree" };
    const schema = { ...tree, $defs: { Tree: { type: "object", properties: { left: tree, right: tree } } } };
    const field = fieldOfSchema(schema);
    expect(field.kind === "group" && field.fields.map((each) => each.field.kind)).toEqual(["json", "json"]);
    expect(fieldOfSchema({ $ref: "#" }).kind).toBe("json");
  });

  test("the same definition may be used twice", () => {
    const point = { $ref: "#/$defs/Point" };
    const $defs = { Point: { type: "object", properties: { x: { type: "number" } } } };
    const fields = inside({ from: point, to: point }, { $defs });
    expect([fields.from?.kind, fields.to?.kind]).toEqual(["group", "group"]);
  });

  test("a schema of endless width ends", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 8 }, (_, n) => {
        const next = { $ref: `#/$defs/d${n + 1}` };
        const names = Array.from({ length: 50 }, (_, at) => [`p${at}`, next]);
        return [`d${n}`, { type: "object", properties: Object.fromEntries(names) }];
      }),
    );
    expect(JSON.stringify(fieldOfSchema({ $ref: "#/$defs/d0", $defs })).length).toBeLessThan(500_000);
  });

  test("as a whole, where the params are no object", () => {
    expect(fieldOfSchema(undefined).kind).toBe("json");
    expect(fieldOfSchema({ type: "string" }).kind).toBe("text");
  });
});
