import { describe, expect, expectTypeOf, test } from "vitest";
import {
  amount,
  either,
  exactly,
  flag,
  type Infer,
  type Issue,
  instant,
  list,
  named,
  nullable,
  object,
  oneOf,
  optional,
  record,
  recordOf,
  type Schema,
  text,
  type ViewOf,
  whole,
} from "./schema.ts";

function issuesOf(schema: Schema<unknown>, value: unknown): string[] {
  const issues: Issue[] = [];
  schema.read(value, "", issues);
  return issues.map(({ path, message }) => `${path} ${message}`.trim());
}

const person = object({
  name: text({ max: 5 }),
  age: optional(whole(0, 150)),
  tags: optional(list(oneOf(["a", "b"]))),
});

describe("a value that fits is read as it is", () => {
  test.each<readonly [Schema<unknown>, unknown]>([
    [text(), ""],
    [whole(), 0],
    [amount, -1.5],
    [flag, false],
    [exactly("x"), "x"],
    [nullable(flag), null],
    [list(whole()), [1, 2]],
    [record(flag), { a: true }],
    [person, { name: "Ann", tags: ["a"] }],
    [either(text(), whole()), 7],
    [instant, "2026-01-31T12:00:00Z"],
    [instant, "2026-01-31T12:00+02:00"],
    [instant, "2026-01-31T12:00:00.123456Z"],
    [instant, new Date(8.64e15).toISOString()],
  ])("%#: %j", (schema, value) => {
    expect(issuesOf(schema, value)).toEqual([]);
    expect(schema.read(value, "", [])).toEqual(value);
  });
});

describe("a value that does not is told where and why", () => {
  test.each<readonly [Schema<unknown>, unknown, string]>([
    [text(), 7, "must be text, not 7"],
    [text({ max: 3 }), "long", 'must be text of at most 3 characters, not "long"'],
    [text({ max: 3 }), "x".repeat(100), "must be text of at most 3 characters, not longer text"],
    [whole(1), 0, "must be a whole number, at least 1, not 0"],
    [whole(1, 5), 6, "must be a whole number from 1 to 5, not 6"],
    [whole(), 2 ** 60, `must be a whole number, at least 0, not ${2 ** 60}`],
    [amount, Number.POSITIVE_INFINITY, "must be a number, not Infinity"],
    [flag, "true", 'must be true or false, not "true"'],
    [oneOf(["a", "b"]), "c", 'must be one of a, b, not "c"'],
    [exactly(true), false, "must be true, not false"],
    [list(flag), {}, "must be an array, not an object"],
    [list(flag), [true, 1], "[1] must be true or false, not 1"],
    [record(flag), [], "must be an object, not an array"],
    [record(flag), { a: 1 }, "a must be true or false, not 1"],
    [person, null, "must be an object, not null"],
    [person, {}, "name is missing"],
    [person, { name: "Ann", age: -1 }, "age must be a whole number from 0 to 150, not -1"],
    [person, { name: "Ann", tags: ["c"] }, 'tags[0] must be one of a, b, not "c"'],
    [person, { name: "Ann", job: 1 }, "job is not a field here; there are name, age, tags"],
    [object({}), { a: 1 }, "a is not a field here; there are none"],
    [object({}), { ["x".repeat(10_000)]: 1 }, `${"x".repeat(64)} is not a field here; there are none`],
    [either(text(), person), { name: 1 }, "name must be text of at most 5 characters, not 1"],
    [either(text(), person), 7, "must be text, not 7"],
    [instant, "2026-01-31", 'must be a time such as 2026-01-31T12:00:00Z, not "2026-01-31"'],
    [
      instant,
      "2026-01-31T12:00:00",
      'must be a time such as 2026-01-31T12:00:00Z, not "2026-01-31T12:00:00"',
    ],
    [
      instant,
      "2026-02-30T25:00:00Z",
      'must be a time such as 2026-01-31T12:00:00Z, not "2026-02-30T25:00:00Z"',
    ],
    [
      instant,
      "2027-02-30T00:00:00Z",
      'must be a time such as 2026-01-31T12:00:00Z, not "2027-02-30T00:00:00Z"',
    ],
    [instant, 0, "must be a time such as 2026-01-31T12:00:00Z, not 0"],
  ])("%#: %j", (schema, value, issue) => {
    expect(issuesOf(schema, value)).toEqual([issue]);
  });

  test("all of it at once", () => {
    expect(issuesOf(person, { age: "x", tags: [1, 2], more: 1 })).toHaveLength(5);
  });
});

describe("what every object has is no field", () => {
  test("a field is there only if it was sent", () => {
    expect(issuesOf(object({ toString: text() }), {})).toEqual(["toString is missing"]);
  });

  test("a field named __proto__ is one that nobody knows", () => {
    const sent = JSON.parse('{"name":"Ann","__proto__":{"age":7}}');
    expect(issuesOf(person, sent)).toHaveLength(1);
    expect(person.read(sent, "", [])).toEqual({ name: "Ann" });
  });
});

test("a named schema is described where it is, and referred to elsewhere", () => {
  const schema = named("Person", person);
  expect(schema.json).toEqual({ $ref: "#/components/schemas/Person" });
  expect(schema.inner).toEqual({
    type: "object",
    properties: {
      name: { type: "string", maxLength: 5 },
      age: { type: "integer", minimum: 0, maximum: 150 },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    },
    required: ["name"],
    additionalProperties: false,
  });
});

test("an object with a value for each word has these fields and no others", () => {
  const counts = recordOf(["good", "bad"], whole());
  expect(issuesOf(counts, { good: 1, bad: 2 })).toEqual([]);
  expect(issuesOf(counts, { good: 1, ugly: 2 })).toEqual([
    "ugly is not a field here; there are good, bad",
    "bad is missing",
  ]);
  expectTypeOf<Infer<typeof counts>>().toEqualTypeOf<Readonly<Record<"good" | "bad", number>>>();
});

test("types are inferred: as sent, and in the process with Dates", () => {
  const visit = object({
    by: text(),
    why: oneOf(["work", "fun"]),
    at: instant,
    until: nullable(instant),
    stops: list(object({ at: instant })),
    note: optional(text()),
    seenAt: optional(instant),
  });
  expectTypeOf<Infer<typeof visit>>().branded.toEqualTypeOf<{
    readonly by: string;
    readonly why: "work" | "fun";
    readonly at: string;
    readonly until: string | null;
    readonly stops: readonly { readonly at: string }[];
    readonly note?: string;
    readonly seenAt?: string;
  }>();
  expectTypeOf<ViewOf<typeof visit>>().branded.toEqualTypeOf<{
    readonly by: string;
    readonly why: "work" | "fun";
    readonly at: Date;
    readonly until: Date | null;
    readonly stops: readonly { readonly at: Date }[];
    readonly note?: string;
    readonly seenAt?: Date;
  }>();
});
