/**
 * The fields of a form, out of JSON Schema as schema libraries write it (draft 2020-12). What cannot be shown as a field is
 * a field for JSON, so that everything can be sent. The service checks it all again.
 */

export interface FieldFacts {
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** Null is a value for it. */
  readonly isNullable: boolean;
  readonly default: unknown;
}

export type Field = FieldFacts & FieldKind;

export type FieldKind =
  | {
      readonly kind: "text";
      readonly format: "plain" | "email" | "url" | "time" | "date";
      readonly lengthMin: number;
      readonly lengthMax: number;
    }
  | { readonly kind: "number"; readonly isWhole: boolean; readonly min: Bound; readonly max: Bound }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly options: readonly unknown[] }
  | { readonly kind: "list"; readonly item: Field; readonly itemsMin: number; readonly itemsMax: number }
  | { readonly kind: "group"; readonly fields: readonly NamedField[]; readonly isOpen: boolean }
  | { readonly kind: "json" };

export type Bound = { readonly value: number; readonly isIn: boolean } | null;

export interface NamedField {
  readonly name: string;
  readonly field: Field;
}

type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this, and after so many fields, the rest of a schema is shown as JSON. */
const depthMax = 6;
const allFieldsMax = 300;
const optionsMax = 200;
const fieldsMax = 100;

export function fieldOfSchema(schema: unknown): Field {
  return fieldOf(schema, "Params", true, { root: schema, depth: 0, refs: [], made: { count: 0 } });
}

interface Place {
  readonly root: unknown;
  readonly depth: number;
  /** What this is inside of: a schema that names itself has no end. */
  readonly refs: readonly string[];
  readonly made: { count: number };
}

function fieldOf(given: unknown, name: string, isRequired: boolean, place: Place): Field {
  const { schema, isNullable, refs } = plain(given, place);
  place.made.count++;
  const facts: FieldFacts = {
    label: textOf(schema.title) ?? name,
    description: textOf(schema.description),
    isRequired,
    isNullable,
    default: schema.default,
  };
  return { ...facts, ...kindOf(schema, { ...place, refs: [...place.refs, ...refs] }) };
}

function kindOf(schema: Schema, place: Place): FieldKind {
  const options = optionsOf(schema);
  if (options) return { kind: "choice", options };
  const isTooMuch = place.depth > depthMax || place.made.count > allFieldsMax;
  if (isTooMuch || composed.some((word) => word in schema)) return { kind: "json" };
  switch (schema.type) {
    case "string":
      return textKind(schema);
    case "number":
    case "integer":
      return numberKind(schema);
    case "boolean":
      return { kind: "flag" };
    case "array":
      return listKind(schema, place);
    case "object":
      return groupKind(schema, place);
    default:
      return { kind: "json" };
  }
}

/** What says more than one form can. */
const composed = ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "patternProperties", "prefixItems"];

function textKind(schema: Schema): FieldKind {
  const format = formats[String(schema.format)] ?? "plain";
  return {
    kind: "text",
    format,
    lengthMin: numberOf(schema.minLength) ?? 0,
    lengthMax: numberOf(schema.maxLength) ?? Number.POSITIVE_INFINITY,
  };
}

const formats: Readonly<Record<string, "email" | "url" | "time" | "date">> = {
  email: "email",
  uri: "url",
  "date-time": "time",
  date: "date",
};

function numberKind(schema: Schema): FieldKind {
  const bound = (inside: unknown, outside: unknown): Bound => {
    const value = numberOf(outside) ?? numberOf(inside);
    // Libraries name the bounds of whole numbers that a computer can hold; nobody needs to read them.
    if (value === undefined || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return null;
    return { value, isIn: numberOf(outside) === undefined };
  };
  return {
    kind: "number",
    isWhole: schema.type === "integer",
    min: bound(schema.minimum, schema.exclusiveMinimum),
    max: bound(schema.maximum, schema.exclusiveMaximum),
  };
}

function listKind(schema: Schema, place: Place): FieldKind {
  const item = fieldOf(schema.items, "Item", true, { ...place, depth: place.depth + 1 });
  if (!["text", "number", "choice"].includes(item.kind) || item.isNullable) return { kind: "json" };
  return {
    kind: "list",
    item,
    itemsMin: numberOf(schema.minItems) ?? 0,
    itemsMax: numberOf(schema.maxItems) ?? Number.POSITIVE_INFINITY,
  };
}

function groupKind(schema: Schema, place: Place): FieldKind {
  const { properties } = schema;
  if (!isSchema(properties)) return { kind: "json" };
  const entries = Object.entries(properties);
  if (entries.length === 0 || entries.length > fieldsMax) return { kind: "json" };
  const required = Array.isArray(schema.required) ? schema.required : [];
  const inside = { ...place, depth: place.depth + 1 };
  const fields = entries.map(([name, each]) => ({
    name,
    field: fieldOf(each, name, required.includes(name), inside),
  }));
  return { kind: "group", fields, isOpen: schema.additionalProperties !== false };
}

/** Without references, and without null, which is told apart. */
function plain(given: unknown, place: Place) {
  const refs: string[] = [];
  const resolve = (each: unknown): Schema => resolved(each, place, refs);
  let schema = resolve(given);
  let isNullable = false;
  for (const word of ["anyOf", "oneOf"]) {
    const all = schema[word];
    if (!Array.isArray(all)) continue;
    const others = all.filter((each) => !isNull(each));
    isNullable ||= others.length < all.length;
    const { [word]: _, ...rest } = schema;
    if (others.length === 1) schema = { ...resolve(others[0]), ...rest };
    else if (others.length < all.length) schema = { ...rest, [word]: others };
  }
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1) {
    const { allOf, ...rest } = schema;
    schema = { ...resolve((allOf as unknown[])[0]), ...rest };
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    isNullable ||= types.length < schema.type.length;
    schema = { ...schema, type: types.length === 1 ? types[0] : types };
  }
  if (Array.isArray(schema.enum) && schema.enum.includes(null)) {
    isNullable = true;
    schema = { ...schema, enum: schema.enum.filter((each) => each !== null) };
  }
  return { schema, isNullable, refs };
}

/** Whatever cannot be resolved keeps its reference. Adds to `refs` what it went through. */
function resolved(given: unknown, { root, refs: around }: Place, refs: string[]): Schema {
  let schema = isSchema(given) ? given : {};
  while (typeof schema.$ref === "string") {
    const { $ref, ...rest } = schema;
    const target = pointed(root, $ref as string);
    if (!isSchema(target) || around.includes($ref as string) || refs.includes($ref as string)) return schema;
    refs.push($ref as string);
    schema = { ...target, ...rest };
  }
  return schema;
}

/** What "#/$defs/Address" points to. */
function pointed(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isSchema(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

function optionsOf(schema: Schema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum.length <= optionsMax ? schema.enum : undefined;
  const all = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(all) || all.length > optionsMax) return undefined;
  const parts = all.map((each) => (isSchema(each) ? optionsOf(each) : undefined));
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}

function isNull(schema: unknown): boolean {
  return isSchema(schema) && (schema.type === "null" || schema.const === null);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
