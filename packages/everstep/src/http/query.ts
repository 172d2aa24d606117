/** The part of a URL after the question mark: text that means numbers, flags and words. */
import type { EverstepError } from "../model/error.ts";
import { type Issue, instant, type JsonSchema } from "../wire/schema.ts";
import { invalid } from "./problems.ts";

export interface QueryField<Value = unknown> {
  readonly json: JsonSchema;
  readonly about: string;
  /** May be given more than once. */
  readonly isList: boolean;
  /** Undefined where the text does not fit. */
  read(given: readonly string[]): Value | undefined;
  readonly wanted: string;
}

export type QueryFields = Readonly<Record<string, QueryField>>;

export type QueryOf<Fields extends QueryFields> = {
  readonly [Key in keyof Fields]?: Fields[Key] extends QueryField<infer Value> ? Value : never;
};

function single<Value>(
  json: JsonSchema,
  wanted: string,
  read: (text: string) => Value | undefined,
): (about: string) => QueryField<Value> {
  return (about) => ({ json, about, wanted, isList: false, read: ([text = ""]) => read(text) });
}

export const textField = single({ type: "string" }, "text", (text) => text);

export const flagField = single({ type: "boolean" }, "true or false", (text) =>
  text === "true" ? true : text === "false" ? false : undefined,
);

export const wholeField = single({ type: "integer", minimum: 1 }, "a whole number above 0", (text) =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
);

/** A whole number from 1 to this. */
export function wholeUpTo(max: number): (about: string) => QueryField<number> {
  return single({ type: "integer", minimum: 1, maximum: max }, `a whole number from 1 to ${max}`, (text) =>
    /^[1-9]\d{0,15}$/.test(text) && Number(text) <= max ? Number(text) : undefined,
  );
}

/** As ISO 8601 text or epoch milliseconds; read as the latter. */
export const timeField = single(
  { type: "string" },
  "a time such as 2026-01-31T12:00:00Z, or milliseconds since 1970",
  (text) => {
    if (/^\d{1,16}$/.test(text)) return Number(text) <= timeMax ? Number(text) : undefined;
    const issues: Issue[] = [];
    instant.read(text, "", issues);
    return issues.length === 0 ? Date.parse(text) : undefined;
  },
);

/** No Date is later. */
const timeMax = 8_640_000_000_000_000;

export const shareField = single(
  { type: "number", exclusiveMinimum: 0, maximum: 1 },
  "a number above 0 and up to 1",
  (text) =>
    /^\d?(\.\d{1,9})?$/.test(text) && Number(text) > 0 && Number(text) <= 1 ? Number(text) : undefined,
);

export function wordField<const Word extends string>(
  words: readonly Word[],
): (about: string) => QueryField<Word> {
  return single({ type: "string", enum: words }, `one of ${words.join(", ")}`, (text) =>
    words.includes(text as Word) ? (text as Word) : undefined,
  );
}

/** Repeated, or with commas between. */
export function wordsField(about: string): QueryField<readonly string[]> {
  return {
    json: { type: "array", items: { type: "string" } },
    about,
    wanted: "words with commas between",
    isList: true,
    read: (given) => given.flatMap((text) => text.split(",")).map((word) => word.trim()),
  };
}

/** Values in one query. */
const valuesMax = 100;

export function readQuery<Fields extends QueryFields>(
  params: URLSearchParams,
  fields: Fields,
): QueryOf<Fields> {
  const issues: Issue[] = [];
  const result: Record<string, unknown> = {};
  for (const [key, given] of valuesByName(params)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const path = key.slice(0, 64);
    if (!field) issues.push({ path, message: unknown(fields) });
    else if (given.length > 1 && !field.isList) issues.push({ path, message: "is given more than once" });
    else {
      const value = field.read(given);
      if (value === undefined) issues.push({ path, message: `must be ${field.wanted}` });
      else result[key] = value;
    }
  }
  if (issues.length > 0) throw invalidQuery(issues);
  return result as QueryOf<Fields>;
}

/** Read once, and never more than any route could mean. */
function valuesByName(params: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  const named = new Map<string, string[]>();
  let values = 0;
  for (const [name, value] of params) {
    values += 1;
    if (values > valuesMax) {
      throw invalidQuery([{ path: "", message: `has more than ${valuesMax} values, which no route takes` }]);
    }
    const known = named.get(name);
    if (known) known.push(value);
    else named.set(name, [value]);
  }
  return named;
}

function unknown(fields: QueryFields): string {
  const names = Object.keys(fields);
  return `is not known here; ${names.length === 0 ? "this route takes none" : `known are ${names.join(", ")}`}`;
}

function invalidQuery(issues: readonly Issue[]): EverstepError {
  return invalid("The query", issues);
}
