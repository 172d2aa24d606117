import { EverstepError } from "../model/error.ts";
import type { EncodedValue } from "../model/value.ts";
import { builtinTag, constructorName, hasPlainPrototype, typedArrayName, unbox } from "./codec-builtins.ts";
import { toBase64 } from "./codec-bytes.ts";
import { isTooLong, messageOf, notSerializable, shorten, tooLarge } from "./codec-errors.ts";
import { charsPerVisit, depthMax, marksCharsMax } from "./codec-limits.ts";
import { isJsonNumber } from "./codec-plain.ts";
import { errorFields, isErrorObject } from "./error-object.ts";

/** The long way: writes any value, with marks. Each property is read once, and `path` always names the place being read. */
export class Writer {
  private readonly what: string;
  private readonly charsMax: number;
  private visitsLeft: number;
  private readonly path: (string | number)[] = [];
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
    return notSerializable(this.what, this.path, kind, problem, cause);
  }
}

const namedKinds: ReadonlySet<string> = new Set(["WeakMap", "WeakSet", "WeakRef", "SharedArrayBuffer"]);

function segmentJson(segment: string | number): string {
  return typeof segment === "number" ? String(segment) : JSON.stringify(segment);
}
