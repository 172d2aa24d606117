/**
 * Small schemas: each checks a value, says what is wrong with it and where, describes itself as JSON Schema, and has two
 * types: what is sent (`Infer`), and the same in the process, where times are Dates (`ViewOf`).
 */

import { hasExistingDay } from "../model/existing-day.ts";

export interface Issue {
  /** Where: `instances[2].id`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Schema<Value, View = Value> {
  readonly json: JsonSchema;
  /** Adds to `issues` what is wrong; what it gives then means nothing. */
  read(value: unknown, path: string, issues: Issue[]): Value;
  /** Never there: carries the type. */
  readonly "~view"?: View;
}

/** What is sent. */
export type Infer<Of> = Of extends Schema<infer Value, unknown> | Optional<infer Value, unknown>
  ? Value
  : never;

/** The same in the process. */
export type ViewOf<Of> = Of extends Schema<unknown, infer View> | Optional<unknown, infer View>
  ? View
  : never;

function schema<Value, View = Value>(
  json: JsonSchema,
  fits: (value: unknown) => boolean,
  wanted: string,
): Schema<Value, View> {
  return {
    json,
    read(value, path, issues) {
      if (!fits(value)) issues.push({ path, message: `must be ${wanted}, not ${told(value)}` });
      return value as Value;
    },
  };
}

export function text(terms: { readonly max?: number; readonly about?: string } = {}): Schema<string> {
  const { max = Number.POSITIVE_INFINITY, about } = terms;
  const json = { type: "string", ...(max < Number.POSITIVE_INFINITY ? { maxLength: max } : {}) };
  return schema(
    about ? { ...json, description: about } : json,
    (value) => typeof value === "string" && value.length <= max,
    max < Number.POSITIVE_INFINITY ? `text of at most ${max} characters` : "text",
  );
}

/** An instant as ISO 8601 text; in the process a Date. */
export const instant: Schema<string, Date> = schema(
  { type: "string", format: "date-time" },
  (value) =>
    typeof value === "string" &&
    isoText.test(value) &&
    !Number.isNaN(Date.parse(value)) &&
    hasExistingDay(value),
  "a time such as 2026-01-31T12:00:00Z",
);

// With its offset: without one it would mean another instant on every machine.
const isoText = /^(\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

export function whole(min = 0, max = Number.MAX_SAFE_INTEGER): Schema<number> {
  return schema(
    { type: "integer", minimum: min, ...(max < Number.MAX_SAFE_INTEGER ? { maximum: max } : {}) },
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
    max < Number.MAX_SAFE_INTEGER
      ? `a whole number from ${min} to ${max}`
      : `a whole number, at least ${min}`,
  );
}

export const amount: Schema<number> = schema({ type: "number" }, Number.isFinite, "a number");

export const flag: Schema<boolean> = schema(
  { type: "boolean" },
  (value) => typeof value === "boolean",
  "true or false",
);

export function oneOf<const Word extends string>(words: readonly Word[]): Schema<Word> {
  return schema(
    { type: "string", enum: words },
    (value) => typeof value === "string" && words.includes(value as Word),
    `one of ${words.join(", ")}`,
  );
}

export function exactly<const Value extends boolean | string>(only: Value): Schema<Value> {
  return schema({ const: only }, (value) => value === only, JSON.stringify(only));
}

/** Anything JSON can say. */
export const anything: Schema<unknown> = { json: {}, read: (value) => value };

export function nullable<Value, View>(inner: Schema<Value, View>): Schema<Value | null, View | null> {
  return {
    json: { anyOf: [inner.json, { type: "null" }] },
    read: (value, path, issues) => (value === null ? null : inner.read(value, path, issues)),
  };
}

export function list<Value, View>(inner: Schema<Value, View>): Schema<readonly Value[], readonly View[]> {
  return {
    json: { type: "array", items: inner.json },
    read(value, path, issues) {
      if (Array.isArray(value)) return value.map((item, at) => inner.read(item, `${path}[${at}]`, issues));
      issues.push({ path, message: `must be an array, not ${told(value)}` });
      return [];
    },
  };
}

/** The first that fits. */
export function either<A, B>(first: Schema<A, unknown>, second: Schema<B, unknown>): Schema<A | B> {
  return {
    json: { anyOf: [first.json, second.json] },
    read(value, path, issues) {
      const ofFirst: Issue[] = [];
      const read = first.read(value, path, ofFirst);
      if (ofFirst.length === 0) return read;
      const ofSecond: Issue[] = [];
      const other = second.read(value, path, ofSecond);
      if (ofSecond.length === 0) return other;
      const isObject = typeof value === "object" && value !== null;
      issues.push(...(isObject ? ofSecond : ofFirst));
      return other;
    },
  };
}

export interface Optional<Value, View = Value> {
  readonly optional: Schema<Value, View>;
}

export function optional<Value, View>(inner: Schema<Value, View>): Optional<Value, View> {
  return { optional: inner };
}

type Fields = Readonly<Record<string, Schema<unknown> | Optional<unknown>>>;

type RequiredKeys<Of> = { [Key in keyof Of]: Of[Key] extends Optional<unknown> ? never : Key }[keyof Of];

// Mapped from the fields themselves, so that editors show the comments that stand at them.
type Shape<Of> = { readonly [Key in keyof Pick<Of, RequiredKeys<Of>>]: Infer<Of[Key]> } & {
  readonly [Key in keyof Omit<Of, RequiredKeys<Of>>]?: Infer<Of[Key]>;
};

type ViewShape<Of> = { readonly [Key in keyof Pick<Of, RequiredKeys<Of>>]: ViewOf<Of[Key]> } & {
  readonly [Key in keyof Omit<Of, RequiredKeys<Of>>]?: ViewOf<Of[Key]>;
};

// Mapped once more, so that declarations and editors show one object with its fields, and no name for how it came about.
export interface ObjectSchema<Of>
  extends Schema<
    { [Key in keyof Shape<Of>]: Shape<Of>[Key] },
    { [Key in keyof ViewShape<Of>]: ViewShape<Of>[Key] }
  > {}

/** An object with these fields and no others: what nobody knows is a mistake, not a wish. */
export function object<const Of extends Fields>(fields: Of): ObjectSchema<Of> {
  const entries = Object.entries(fields).map(([key, field]) => ({
    key,
    isOptional: "optional" in field,
    inner: "optional" in field ? field.optional : field,
  }));
  const known = new Set(entries.map(({ key }) => key));
  const required = entries.filter(({ isOptional }) => !isOptional).map(({ key }) => key);
  return {
    json: {
      type: "object",
      properties: Object.fromEntries(entries.map(({ key, inner }) => [key, inner.json])),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    },
    read(value, path, issues) {
      const result: Record<string, unknown> = {};
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        issues.push({ path, message: `must be an object, not ${told(value)}` });
        return result as Shape<Of>;
      }
      for (const key of Object.keys(value)) {
        if (!known.has(key)) issues.push(unknownField(path, key, known));
      }
      for (const { key, inner, isOptional } of entries) {
        if (Object.hasOwn(value, key)) {
          result[key] = inner.read((value as Record<string, unknown>)[key], inside(path, key), issues);
        } else if (!isOptional) issues.push({ path: inside(path, key), message: "is missing" });
      }
      return result as Shape<Of>;
    },
  };
}

/** An object with a value of the same kind for each of these words. */
export function recordOf<Word extends string, Value>(
  words: readonly Word[],
  inner: Schema<Value>,
): Schema<Readonly<Record<Word, Value>>> {
  const fields = Object.fromEntries(words.map((word) => [word, inner]));
  return object(fields) as unknown as Schema<Readonly<Record<Word, Value>>>;
}

/** Text keys, each with a value of the same kind. */
export function record<Value>(inner: Schema<Value>): Schema<Readonly<Record<string, Value>>> {
  return {
    json: { type: "object", additionalProperties: inner.json },
    read(value, path, issues) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        issues.push({ path, message: `must be an object, not ${told(value)}` });
        return {};
      }
      const entries = Object.entries(value).map(([key, item]) => [
        key,
        inner.read(item, inside(path, key), issues),
      ]);
      return Object.fromEntries(entries);
    },
  };
}

export interface NamedSchema<Value, View = Value> extends Schema<Value, View> {
  readonly name: string;
  /** What the name stands for. */
  readonly inner: JsonSchema;
}

/** A schema with a name, described once in a document that uses it often. */
export function named<Value, View>(name: string, inner: Schema<Value, View>): NamedSchema<Value, View> {
  return { name, inner: inner.json, json: { $ref: `#/components/schemas/${name}` }, read: inner.read };
}

function inside(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

/** Its name is the caller's and may be of any length; enough of it is said to find it again. */
function unknownField(path: string, key: string, known: ReadonlySet<string>): Issue {
  const fields = known.size === 0 ? "there are none" : `there are ${[...known].join(", ")}`;
  return { path: inside(path, key.slice(0, 64)), message: `is not a field here; ${fields}` };
}

function told(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return value.length > 64 ? "longer text" : JSON.stringify(value);
  return String(value);
}
