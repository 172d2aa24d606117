import { describe, expect, test } from "vitest";
import { type Draft, draftOf, emptyDraft } from "./draft.ts";
import { readDraft } from "./read-draft.ts";
import { type Field, fieldOfSchema } from "./schema-fields.ts";

const signup = fieldOfSchema({
  type: "object",
  required: ["email", "plan", "note"],
  properties: {
    email: { type: "string", format: "email" },
    plan: { enum: ["free", "team"] },
    note: { type: ["string", "null"] },
    seats: { type: "integer", minimum: 1, maximum: 500, default: 1 },
    isNews: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    at: { type: "string", format: "date-time" },
    extra: {},
    address: {
      type: "object",
      required: ["city"],
      properties: { city: { type: "string" }, zip: { type: "string" } },
    },
  },
});
const read = (changes: Record<string, Draft>, field: Field = signup) =>
  readDraft(field, { ...(emptyDraft(field) as object), ...changes } as Draft);
const said = (changes: Record<string, Draft>) =>
  read(changes).issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
const good = { email: "a@b", plan: "1" };

describe("what a form sends", () => {
  test("is what was typed, with defaults, and without what was left empty", () => {
    expect(read(good)).toEqual({
      value: { email: "a@b", plan: "team", note: null, seats: 1 },
      issues: [],
    });
  });

  test("has each value in its type", () => {
    const typed = {
      seats: "12",
      isNews: "false",
      tags: ["x", "y"],
      at: "2026-05-06T07:08",
      extra: '{"a":[1]}',
      address: { city: "Bonn", zip: "" },
    };
    expect(read({ ...good, ...typed }).value).toMatchObject({
      seats: 12,
      isNews: false,
      tags: ["x", "y"],
      at: new Date(2026, 4, 6, 7, 8).toISOString(),
      extra: { a: [1] },
      address: { city: "Bonn" },
    });
  });

  test("keeps names that mean something to JavaScript", () => {
    const field = fieldOfSchema(JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'));
    const draft = JSON.parse('{"__proto__":"x"}') as Draft;
    expect(JSON.stringify(readDraft(field, draft).value)).toBe('{"__proto__":"x"}');
  });
});

describe("before it is sent", () => {
  test("what is needed is asked for", () => {
    expect(said({})).toEqual(["email: This is needed.", "plan: This is needed."]);
  });

  test("a part that was begun must be whole", () => {
    expect(said({ ...good, address: { city: "", zip: "1" } })).toEqual(["address.city: This is needed."]);
  });

  test.each([
    ["many", "This is not a number."],
    ["1.5", "This must be a whole number."],
    ["0", "This must be 1 or more."],
    ["501", "This must be 500 or less."],
  ])("%s seats are refused", (seats, message) => {
    expect(said({ ...good, seats })).toEqual([`seats: ${message}`]);
  });

  test("broken JSON is refused, and kept", () => {
    expect(said({ ...good, extra: "{" })).toEqual(["extra: This is not JSON."]);
    expect(read({ ...good, extra: "{" }).value).toMatchObject({ extra: "{" });
  });
});

describe("a value in the form", () => {
  test("comes back as it was", () => {
    const value = {
      email: "a@b",
      plan: "free",
      note: "x",
      seats: 3,
      isNews: true,
      tags: ["t"],
      at: "2026-01-02T03:04:05.678Z",
      extra: { deep: [null] },
      address: { city: "Bonn", zip: "53" },
    };
    expect(readDraft(signup, draftOf(signup, value) as Draft)).toEqual({ value, issues: [] });
  });

  test.each([
    ["another type", { seats: "3" }],
    ["another choice", { plan: "none" }],
    ["a name the form does not have", { other: 1 }],
    ["a time that would be sent otherwise", { at: "2026-01-02T03:04:05+02:00" }],
    ["no object", []],
  ])("%s cannot be shown", (_, value) => {
    expect(draftOf(signup, value)).toBeUndefined();
  });
});

test("the only value there is need not be chosen", () => {
  const field = fieldOfSchema({ type: "object", required: ["v"], properties: { v: { const: 2 } } });
  expect(readDraft(field, emptyDraft(field)).value).toEqual({ v: 2 });
});
