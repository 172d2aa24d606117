import { EverstepError } from "../model/error.ts";
import type { EncodedValue } from "../model/value.ts";

/*
 * How values become text and come back.
 *
 * Everything JSON can say is JSON. What JSON would lose is written in its most readable JSON form, and `marks` lists
 * beside it, children before parents, where to look and what it was: [[["paidAt"], "Date"], [["tags"], "Set"]].
 * A path names keys and indexes of the JSON text, so no key of the value can be mistaken for a mark.
 *
 * Kept as structuredClone keeps them: subclasses of Array, Map, Uint8Array (Buffer), Error, ... become the built-in they
 * extend; objects without prototype become plain ones; symbol keys, non-enumerable properties and named properties of
 * arrays are left out. Kept differently: a value that is reachable twice is written twice, cycles are refused, a class
 * instance is refused instead of losing its class, and toJSON is never called. Typed arrays are written as
 * little-endian bytes.
 */

/** Deeper values are refused; both JSON.parse and this file recurse. */
const depthMax = 1000;
/** A small graph that shares its branches can describe billions of values; this is where the walk gives up. */
const visitsMax = 5_000_000;
/** Long text counts as several values, so that one text reachable a thousand times is noticed, too. */
const charsPerVisit = 32;
/** The same for marks, whose paths can be long. */
const marksCharsMax = 32 * 1024 * 1024;
/** Text up to this length is written without asking whether it can be. */
const shortText = 1024 * 1024;

/** Text for a value, or VALUE_NOT_SERIALIZABLE naming the place inside `what` that cannot be kept. */
export function encodeValue(value: unknown, what: string): EncodedValue {
  switch (typeof value) {
    case "undefined":
      return encodedUndefined;
    case "boolean":
      return value ? encodedTrue : encodedFalse;
    case "string":
      return value.length <= shortText
        ? { json: JSON.stringify(value), marks: null }
        : encodeRich(value, what);
    case "number":
      return isJsonNumber(value) ? { json: String(value), marks: null } : encodeRich(value, what);
    case "object":
      return value === null ? encodedNull : encodeObject(value, what);
    default:
      return encodeRich(value, what);
  }
}

/** The value again, new and detached from everything; HISTORY_UNREADABLE when the text is not what `encodeValue` wrote. */
export function decodeValue(encoded: EncodedValue): unknown {
  if (encoded.marks === null) return parseStored(encoded.json);
  if (encoded.marks === encodedUndefined.marks && encoded.json === "null") return undefined;
  return reviveMarks(parseStored(encoded.json), encoded.marks);
}

/** What a reader who knows only JSON sees: dates as text, maps as lists of pairs, undefined as null. */
export function jsonView(encoded: EncodedValue): unknown {
  return parseStored(encoded.json);
}

/** Like `encodeValue`, but undefined for a value that cannot be kept or takes more than `maxBytes`; never slow. */
export function encodeSmall(value: unknown, maxBytes: number): EncodedValue | undefined {
  try {
    // Every value takes at least one byte, so a walk over more values than bytes cannot fit.
    const encoded = new Writer("value", maxBytes, maxBytes).encode(value);
    return encodedBytes(encoded) <= maxBytes ? encoded : undefined;
  } catch {
    return undefined;
  }
}

/** UTF-8 bytes of the stored text. */
export function encodedBytes(encoded: EncodedValue): number {
  return utf8Bytes(encoded.json) + (encoded.marks === null ? 0 : utf8Bytes(encoded.marks));
}

/** PAYLOAD_TOO_LARGE when the stored text takes more than `maxBytes`. */
export function checkBytes(encoded: EncodedValue, maxBytes: number, what: string): void {
  const chars = encoded.json.length + (encoded.marks === null ? 0 : encoded.marks.length);
  if (chars * 3 <= maxBytes) return;
  const bytes = encodedBytes(encoded);
  if (bytes <= maxBytes) return;
  throw new EverstepError(
    "PAYLOAD_TOO_LARGE",
    `${what} takes ${bytes} bytes, and at most ${maxBytes} are allowed. ` +
      "Keep large data elsewhere (a file, an object store, a table) and pass a reference to it.",
    { details: { bytes, maxBytes } },
  );
}

const encodedUndefined: EncodedValue = Object.freeze({ json: "null", marks: '[[[],"undefined"]]' });
const encodedNull: EncodedValue = Object.freeze({ json: "null", marks: null });
const encodedTrue: EncodedValue = Object.freeze({ json: "true", marks: null });
const encodedFalse: EncodedValue = Object.freeze({ json: "false", marks: null });

function encodeObject(value: object, what: string): EncodedValue {
  const json = isPlainJson(value, what) ? stringify(value) : undefined;
  return json === undefined ? encodeRich(value, what) : { json, marks: null };
}

function encodeRich(value: unknown, what: string): EncodedValue {
  return new Writer(what, visitsMax, Number.POSITIVE_INFINITY).encode(value);
}

function stringify(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // Too long for a text, or a getter that answers once and then throws: the long way finds out.
    return undefined;
  }
}

// --- the short way: values JSON.stringify writes without loss ---------------------------------------------------

let visitsLeft = 0;

function isPlainJson(value: object, what: string): boolean {
  visitsLeft = visitsMax;
  let plain = false;
  try {
    plain = isPlainObject(value, depthMax);
  } catch {
    // A getter or proxy threw: the long way finds out where.
  }
  if (visitsLeft < 0) throw tooLarge(what);
  return plain;
}

function isPlain(value: unknown, room: number): boolean {
  switch (typeof value) {
    case "string":
      visitsLeft -= value.length / charsPerVisit;
      return visitsLeft >= 0;
    case "boolean":
      return true;
    case "number":
      return isJsonNumber(value);
    case "object":
      return value === null || isPlainObject(value, room);
    default:
      return false;
  }
}

// Everything unusual (another realm, no prototype, too deep, a toJSON) is left to the long way.
function isPlainObject(value: object, room: number): boolean {
  if (room === 0 || typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  if (Array.isArray(value)) return isPlainArray(value, room - 1);
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) {
    if (--visitsLeft < 0) return false;
    if (!isPlain((value as Record<string, unknown>)[key], room - 1)) return false;
  }
  return true;
}

function isPlainArray(values: readonly unknown[], room: number): boolean {
  visitsLeft -= values.length;
  if (visitsLeft < 0) return false;
  for (let index = 0; index < values.length; index++) {
    if (!isPlain(values[index], room)) return false;
  }
  return true;
}

function isJsonNumber(value: number): boolean {
  return value === 0 ? 1 / value > 0 : Number.isFinite(value);
}

// --- the long way: any value, with marks ------------------------------------------------------------------------

type Path = (string | number)[];

/** Writes one value. Each property is read once, and `path` always names the place being read. */
class Writer {
  private readonly what: string;
  private readonly charsMax: number;
  private visitsLeft: number;
  private readonly path: Path = [];
  private readonly ancestors = new Set<object>();
  private marks = "";

  constructor(what: string, visits: number, charsMax: number) {
    this.what = what;
    this.visitsLeft = visits;
    this.charsMax = charsMax;
  }

  encode(value: unknown): EncodedValue {
    try {
      const json = this.write(value);
      return { json, marks: this.marks === "" ? null : `[${this.marks}]` };
    } catch (error) {
      if (error instanceof EverstepError) throw error;
      if (isTooLong(error)) throw tooLarge(this.what, error);
      throw this.refuse("unreadable", `cannot be read (${messageOf(error)})`, error);
    }
  }

  private write(value: unknown): string {
    if (--this.visitsLeft < 0) throw tooLarge(this.what);
    switch (typeof value) {
      case "string":
        this.charge(value.length);
        return JSON.stringify(value);
      case "boolean":
        return value ? "true" : "false";
      case "number":
        return isJsonNumber(value)
          ? String(value)
          : this.marked("null", Object.is(value, -0) ? "-0" : String(value));
      case "undefined":
        return this.marked("null", "undefined");
      case "bigint":
        return this.marked(`"${value}"`, "BigInt");
      case "object":
        return value === null ? "null" : this.writeOnce(value);
      case "function":
        throw this.refuse("function", "is a function; use plain data instead");
      default:
        throw this.refuse("symbol", "is a symbol; use plain data instead");
    }
  }

  private writeOnce(value: object): string {
    if (this.ancestors.has(value))
      throw this.refuse("cycle", "refers back to a value that contains it; use plain data without cycles");
    if (this.path.length >= depthMax)
      throw this.refuse("depth", `is nested more than ${depthMax} levels deep; use flatter data`);
    this.ancestors.add(value);
    const text = this.writeObject(value);
    this.ancestors.delete(value);
    return text;
  }

  private writeObject(value: object): string {
    if (Array.isArray(value)) return this.writeArray(value);
    if (hasPlainPrototype(value)) return this.writeRecord(value as Record<string, unknown>);
    if (ArrayBuffer.isView(value)) return this.writeView(value);
    if (isErrorObject(value)) return this.writeError(value);
    if (value instanceof URL) return this.marked(JSON.stringify(value.href), "URL");
    return this.writeBuiltin(value, builtinTag(value));
  }

  private writeBuiltin(value: object, tag: string): string {
    switch (tag) {
      case "Date":
        return this.writeDate(Date.prototype.getTime.call(value));
      case "Map":
        return this.marked(this.writeArray([...Map.prototype.entries.call(value)]), "Map");
      case "Set":
        return this.marked(this.writeArray([...Set.prototype.values.call(value)]), "Set");
      case "RegExp":
        return this.marked(
          JSON.stringify(`/${(value as RegExp).source}/${(value as RegExp).flags}`),
          "RegExp",
        );
      case "ArrayBuffer":
        return this.writeBytes(new Uint8Array(value as ArrayBuffer), "ArrayBuffer");
      case "Number":
      case "String":
      case "Boolean":
      case "BigInt":
        return this.marked(this.write(unbox(value, tag)), "Boxed");
      default:
        throw this.refuseInstance(value, tag);
    }
  }

  private writeArray(values: readonly unknown[]): string {
    if (values.length > this.visitsLeft) throw tooLarge(this.what);
    let text = "[";
    for (let index = 0; index < values.length; index++) {
      if (index > 0) text += ",";
      this.path.push(index);
      text += Object.hasOwn(values, index) ? this.write(values[index]) : this.marked("null", "hole");
      this.path.pop();
    }
    return `${text}]`;
  }

  private writeRecord(record: Readonly<Record<string, unknown>>): string {
    let text = "{";
    for (const key of Object.keys(record)) {
      if (text !== "{") text += ",";
      this.charge(key.length);
      this.path.push(key);
      text += `${JSON.stringify(key)}:${this.write(record[key])}`;
      this.path.pop();
    }
    return `${text}}`;
  }

  private writeDate(ms: number): string {
    return this.marked(Number.isNaN(ms) ? "null" : `"${new Date(ms).toISOString()}"`, "Date");
  }

  // Only the bytes the view shows: a small view must not drag its large buffer along.
  private writeView(view: ArrayBufferView): string {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    return this.writeBytes(bytes, typedArrayName.call(view) ?? "DataView");
  }

  private writeBytes(bytes: Uint8Array, tag: string): string {
    this.charge((bytes.length * 4) / 3);
    return this.marked(`"${toBase64(bytes)}"`, tag);
  }

  private writeError(error: Readonly<Record<string, unknown>>): string {
    return this.marked(this.writeRecord(errorFields(error)), "Error");
  }

  private marked(json: string, tag: string): string {
    if (this.marks !== "") this.marks += ",";
    this.marks += `[[${this.path.map(segmentJson)}],"${tag}"]`;
    if (this.marks.length > marksCharsMax) throw tooLarge(this.what);
    return json;
  }

  private charge(chars: number): void {
    this.visitsLeft -= chars / charsPerVisit;
    if (chars > this.charsMax || this.visitsLeft < 0) throw tooLarge(this.what);
  }

  private refuseInstance(value: object, tag: string): EverstepError {
    if (tag === "Promise") return this.refuse(tag, "is a Promise; await it first");
    const name = shorten(constructorName(value) ?? tag, 80);
    const kind = namedKinds.has(tag) ? tag : "class instance";
    return this.refuse(kind, `is an instance of ${name}, which cannot be kept; use plain data instead`);
  }

  private refuse(kind: string, problem: string, cause?: unknown): EverstepError {
    const path = pathText(this.path);
    return new EverstepError("VALUE_NOT_SERIALIZABLE", `${this.what}${path} ${problem}.`, {
      cause,
      details: { path: path.replace(/^\./, ""), kind },
    });
  }
}

const namedKinds: ReadonlySet<string> = new Set(["WeakMap", "WeakSet", "WeakRef", "SharedArrayBuffer"]);

function hasPlainPrototype(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isForeignObjectPrototype(prototype);
}

// Object.prototype of another realm (an iframe, a vm context, a test runner's sandbox).
function isForeignObjectPrototype(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && prototype.constructor?.name === "Object";
}

function isErrorObject(value: object): value is Readonly<Record<string, unknown>> {
  if (value instanceof Error) return true;
  const tag = Object.prototype.toString.call(value);
  return tag === "[object Error]" || tag === "[object DOMException]";
}

/** What errors keep hidden; their other own properties are written beside these. */
const errorFieldNames: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);

function errorFields(error: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name, message, stack } = error;
  const fields: [string, unknown][] = [
    ["name", typeof name === "string" ? name : "Error"],
    ["message", typeof message === "string" ? message : ""],
  ];
  if (typeof stack === "string") fields.push(["stack", stack]);
  for (const key of ["cause", "errors"]) {
    if (Object.hasOwn(error, key)) fields.push([key, error[key]]);
  }
  const properties = Object.keys(error).filter((key) => !errorFieldNames.has(key));
  return Object.fromEntries([...fields, ...properties.map((key) => [key, error[key]] as const)]);
}

/** The built-in an object really is. Symbol.toStringTag is anybody's claim, so the claim is tried out. */
function builtinTag(value: object): string {
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  const probe = probes.get(tag);
  if (probe === undefined) return tag;
  try {
    probe(value);
    return tag;
  } catch {
    return "Object";
  }
}

const probes: ReadonlyMap<string, (value: unknown) => unknown> = new Map<string, (value: unknown) => unknown>(
  [
    ["Date", (value) => Date.prototype.getTime.call(value)],
    ["Map", (value) => Map.prototype.has.call(value as Map<unknown, unknown>, undefined)],
    ["Set", (value) => Set.prototype.has.call(value as Set<unknown>, undefined)],
    ["RegExp", (value) => regExpSource.call(value)],
    ["ArrayBuffer", (value) => ArrayBuffer.prototype.slice.call(value as ArrayBuffer, 0, 0)],
    ["Number", (value) => unbox(value, "Number")],
    ["String", (value) => unbox(value, "String")],
    ["Boolean", (value) => unbox(value, "Boolean")],
    ["BigInt", (value) => unbox(value, "BigInt")],
  ],
);

const regExpSource = getterOf(RegExp.prototype, "source");
/** The name of the typed array a view is, whatever it claims; undefined for a DataView. */
const typedArrayName = getterOf(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) as (
  this: unknown,
) => string | undefined;

function getterOf(prototype: object, key: PropertyKey): (this: unknown) => unknown {
  return Object.getOwnPropertyDescriptor(prototype, key)?.get as (this: unknown) => unknown;
}

function unbox(value: unknown, tag: "Number" | "String" | "Boolean" | "BigInt"): unknown {
  switch (tag) {
    case "Number":
      return Number.prototype.valueOf.call(value);
    case "String":
      return String.prototype.valueOf.call(value);
    case "Boolean":
      return Boolean.prototype.valueOf.call(value);
    case "BigInt":
      return BigInt.prototype.valueOf.call(value);
  }
}

function constructorName(value: object): string | undefined {
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** What engines throw when a text outgrows the longest string they can make. */
function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && /string length|memory/i.test(error.message);
}

function tooLarge(what: string, cause?: unknown): EverstepError {
  return new EverstepError(
    "PAYLOAD_TOO_LARGE",
    `${what} is far too large to keep. Keep large data elsewhere (a file, an object store, a table) and pass a reference to it.`,
    { cause },
  );
}

function segmentJson(segment: string | number): string {
  return typeof segment === "number" ? String(segment) : JSON.stringify(segment);
}

function pathText(path: Path): string {
  const text = path.map(segmentText).join("");
  return text.length <= 200 ? text : `${text.slice(0, 100)}…${text.slice(-99)}`;
}

function segmentText(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (segment.length > 80) return `[${JSON.stringify(shorten(segment, 80))}]`;
  return /^[A-Za-z_$][\w$]*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}

function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function messageOf(error: unknown): string {
  try {
    return shorten(error instanceof Error ? String(error.message) : String(error), 200);
  } catch {
    return "no reason given";
  }
}

// --- back again -------------------------------------------------------------------------------------------------

function parseStored(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw unreadable("it is not JSON", error);
  }
}

type Holder = Record<string | number, unknown>;

// A mark only ever replaces a value that JSON.parse made, under a key that is really there: no path can lead to a
// prototype.
function reviveMarks(tree: unknown, marks: string): unknown {
  const root: Holder = { value: tree };
  for (const mark of parseMarks(marks)) {
    const [path, tag] = parseMark(mark);
    reviveAt(root, path, tag);
  }
  return root.value;
}

function parseMarks(marks: string): readonly unknown[] {
  const list = parseStored(marks);
  if (!Array.isArray(list)) throw unreadable("its marks are not a list");
  return list;
}

function parseMark(mark: unknown): readonly [path: readonly unknown[], tag: string] {
  if (!Array.isArray(mark) || mark.length !== 2) throw unreadable("a mark is not a pair of path and tag");
  const [path, tag] = mark;
  if (!Array.isArray(path) || typeof tag !== "string")
    throw unreadable("a mark is not a pair of path and tag");
  return [path, tag];
}

function reviveAt(root: Holder, path: readonly unknown[], tag: string): void {
  const [holder, key] = locate(root, path);
  if (tag === "hole") makeHole(holder, key);
  else replace(holder, key, tag);
}

function replace(holder: Holder, key: string | number, tag: string): void {
  const revive = revivers.get(tag);
  if (revive === undefined)
    throw unreadable(
      `it carries the tag ${JSON.stringify(shorten(tag, 80))}, which this version does not know`,
    );
  try {
    holder[key] = revive(holder[key]);
  } catch (error) {
    throw unreadable(`what is marked ${tag} does not look like it`, error);
  }
}

function locate(root: Holder, path: readonly unknown[]): readonly [holder: Holder, key: string | number] {
  let holder = root;
  let key: string | number = "value";
  for (const segment of path) {
    const inner = holder[key];
    if (!isHolderOf(inner, segment)) throw unreadable("a mark points to a place that does not exist");
    holder = inner;
    key = segment as string | number;
  }
  return [holder, key];
}

function isHolderOf(value: unknown, segment: unknown): value is Holder {
  if (Array.isArray(value)) return Number.isInteger(segment) && Object.hasOwn(value, segment as number);
  if (typeof value !== "object" || value === null || typeof segment !== "string") return false;
  return Object.getPrototypeOf(value) === Object.prototype && Object.hasOwn(value, segment);
}

function makeHole(holder: Holder, key: string | number): void {
  if (!Array.isArray(holder)) throw unreadable("a hole is marked outside of an array");
  delete holder[key as number];
}

/** The closed set of tags. Each reviver throws when the JSON it finds is not what its writer writes. */
const revivers: ReadonlyMap<string, (json: unknown) => unknown> = new Map<string, (json: unknown) => unknown>(
  [
    ["undefined", (json) => fromNull(json, undefined)],
    ["NaN", (json) => fromNull(json, Number.NaN)],
    ["Infinity", (json) => fromNull(json, Number.POSITIVE_INFINITY)],
    ["-Infinity", (json) => fromNull(json, Number.NEGATIVE_INFINITY)],
    ["-0", (json) => fromNull(json, -0)],
    ["BigInt", (json) => reviveBigInt(text(json))],
    ["Date", (json) => reviveDate(json)],
    ["Map", (json) => new Map(list(json).map(pair))],
    ["Set", (json) => new Set(list(json))],
    ["RegExp", (json) => reviveRegExp(text(json))],
    ["URL", (json) => new URL(text(json))],
    ["Boxed", (json) => box(json)],
    ["Error", (json) => reviveError(json)],
    ["ArrayBuffer", (json) => fromBase64(text(json)).buffer],
    ["DataView", (json) => new DataView(fromBase64(text(json)).buffer)],
    ...[
      "Int8Array",
      "Uint8Array",
      "Uint8ClampedArray",
      "Int16Array",
      "Uint16Array",
      "Int32Array",
      "Uint32Array",
      "Float16Array",
      "Float32Array",
      "Float64Array",
      "BigInt64Array",
      "BigUint64Array",
    ].map((name) => [name, (json: unknown) => reviveTypedArray(name, text(json))] as const),
  ],
);

function fromNull<Value>(json: unknown, value: Value): Value {
  if (json !== null) throw new TypeError("expected null");
  return value;
}

function text(json: unknown): string {
  if (typeof json !== "string") throw new TypeError("expected text");
  return json;
}

function list(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw new TypeError("expected a list");
  return json;
}

function pair(json: unknown): [unknown, unknown] {
  const items = list(json);
  if (items.length !== 2) throw new TypeError("expected a pair");
  return [items[0], items[1]];
}

function reviveBigInt(digits: string): bigint {
  if (!/^-?\d+$/.test(digits)) throw new TypeError("expected digits");
  return BigInt(digits);
}

function reviveDate(json: unknown): Date {
  if (json === null) return new Date(Number.NaN);
  const date = new Date(text(json));
  if (Number.isNaN(date.getTime())) throw new TypeError("expected a date");
  return date;
}

function reviveRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf("/");
  if (end < 1 || !literal.startsWith("/")) throw new TypeError("expected /source/flags");
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

const boxable: ReadonlySet<string> = new Set(["string", "number", "boolean", "bigint"]);

function box(json: unknown): object {
  if (!boxable.has(typeof json)) throw new TypeError("expected a primitive");
  return Object(json);
}

function reviveTypedArray(name: string, base64: string): unknown {
  const TypedArray = (globalThis as Record<string, unknown>)[name] as
    | (new (
        buffer: ArrayBuffer,
      ) => unknown)
    | undefined;
  if (TypedArray === undefined) throw new TypeError(`${name} does not exist here`);
  return new TypedArray(fromBase64(base64).buffer);
}

function reviveError(json: unknown): Error {
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw new TypeError("expected an object");
  const { name, message, stack, ...others } = json as Record<string, unknown>;
  const error = newError(text(name), text(message), stack === undefined ? undefined : text(stack));
  for (const [key, value] of Object.entries(others)) {
    if (errorFieldNames.has(key)) defineHidden(error, key, value);
    else defineListed(error, key, value);
  }
  return error;
}

const errorClasses: ReadonlyMap<string, () => Error> = new Map<string, () => Error>([
  ["EvalError", () => new EvalError()],
  ["RangeError", () => new RangeError()],
  ["ReferenceError", () => new ReferenceError()],
  ["SyntaxError", () => new SyntaxError()],
  ["TypeError", () => new TypeError()],
  ["URIError", () => new URIError()],
  ["AggregateError", () => new AggregateError([])],
]);

/** An error of the built-in class that has this name, or a plain Error that carries it. */
export function newError(name: string, message: string, stack: string | undefined): Error {
  const error = errorClasses.get(name)?.() ?? new Error();
  if (error.name !== name) defineHidden(error, "name", name);
  defineHidden(error, "message", message);
  defineHidden(error, "stack", stack);
  return error;
}

/** As the constructors of errors do it: there, but not listed. */
export function defineHidden(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: false, configurable: true });
}

/** As an assignment does it, but also for keys such as `__proto__` that an assignment takes for something else. */
export function defineListed(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function unreadable(problem: string, cause?: unknown): EverstepError {
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `A stored value cannot be read: ${problem}. It was changed by hand, damaged, or written by a newer version.`,
    { cause },
  );
}

// --- bytes ------------------------------------------------------------------------------------------------------

function utf8Bytes(value: string): number {
  let bytes = value.length;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
      continue;
    }
    bytes += 2;
    // A pair is four bytes for two units; a lone surrogate is stored as U+FFFD, three bytes like any other.
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = value.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) index++;
  }
  return bytes;
}

/** Bytes per piece: a multiple of three, so that pieces of base64 can be joined, and few enough to be arguments. */
const base64Piece = 6 * 1024;

function toBase64(bytes: Uint8Array): string {
  let base64 = "";
  for (let start = 0; start < bytes.length; start += base64Piece) {
    const piece = bytes.subarray(start, start + base64Piece);
    // Ten times faster than spreading the piece, which would step through its iterator.
    base64 += btoa(String.fromCharCode.apply(null, piece as unknown as number[]));
  }
  return base64;
}

function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
