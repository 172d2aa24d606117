/** As much of JSON Schema as the OpenAPI document uses; what it does not know is an error, never a pass. */

export type JsonSchema = Readonly<Record<string, unknown>>;

type Resolve = (ref: string) => JsonSchema;

/** What is wrong with the value, each with its place; empty when it fits. */
export function mistakesIn(value: unknown, schema: JsonSchema, resolve: Resolve, path = "$"): string[] {
  return Object.entries(schema).flatMap(([keyword, term]) => {
    const check = keywords[keyword];
    if (!check) throw new Error(`${path}: JSON Schema keyword "${keyword}" is not known to this check`);
    return check({ value, term, schema, resolve, path });
  });
}

interface Given {
  readonly value: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: each keyword knows what its own term is
  readonly term: any;
  readonly schema: JsonSchema;
  readonly resolve: Resolve;
  readonly path: string;
}

type Check = (given: Given) => string[];

const unless = (fits: boolean, path: string, mistake: string): string[] =>
  fits ? [] : [`${path} ${mistake}`];

const keywords: Readonly<Record<string, Check>> = {
  $ref: ({ value, term, resolve, path }) => mistakesIn(value, resolve(term), resolve, path),
  type: ({ value, term, path }) => unless(isOfType(value, term), path, `is no ${term}`),
  enum: ({ value, term, path }) => unless(term.includes(value), path, `is none of ${term}`),
  const: ({ value, term, path }) => unless(value === term, path, `is not ${term}`),
  anyOf: ({ value, term, resolve, path }) =>
    unless(
      term.some((each: JsonSchema) => mistakesIn(value, each, resolve, path).length === 0),
      path,
      "fits none of anyOf",
    ),
  items: ({ value, term, resolve, path }) =>
    Array.isArray(value)
      ? value.flatMap((item, at) => mistakesIn(item, term, resolve, `${path}[${at}]`))
      : [],
  properties: ({ value, term, resolve, path }) =>
    Object.entries(term as Record<string, JsonSchema>).flatMap(([key, each]) =>
      isObject(value) && Object.hasOwn(value, key)
        ? mistakesIn(value[key], each, resolve, `${path}.${key}`)
        : [],
    ),
  required: ({ value, term, path }) =>
    isObject(value)
      ? term
          .filter((key: string) => !Object.hasOwn(value, key))
          .map((key: string) => `${path}.${key} is missing`)
      : [],
  additionalProperties: ({ value, term, schema, resolve, path }) => {
    if (!isObject(value)) return [];
    const others = Object.keys(value).filter(
      (key) => !Object.hasOwn((schema.properties ?? {}) as object, key),
    );
    return term === false
      ? others.map((key) => `${path}.${key} is not known`)
      : others.flatMap((key) => mistakesIn(value[key], term, resolve, `${path}.${key}`));
  },
  minimum: ({ value, term, path }) =>
    unless(typeof value !== "number" || value >= term, path, `is below ${term}`),
  maximum: ({ value, term, path }) =>
    unless(typeof value !== "number" || value <= term, path, `is above ${term}`),
  exclusiveMinimum: ({ value, term, path }) =>
    unless(typeof value !== "number" || value > term, path, `is not above ${term}`),
  maxLength: ({ value, term, path }) =>
    unless(typeof value !== "string" || value.length <= term, path, `is longer than ${term}`),
  format: ({ value, term, path }) =>
    unless(
      term !== "date-time" ||
        typeof value !== "string" ||
        /^[-+\d]+-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value),
      path,
      `is no ${term}`,
    ),
  description: () => [],
};

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      throw new Error(`There is no type ${type}.`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
