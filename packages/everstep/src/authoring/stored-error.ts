import { type ErrorCode, EverstepError } from "../model/error.ts";
import { errorLimits } from "../model/limits.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";
import { decodeValue, encodeSmall } from "./codec.ts";
import { defineHidden, defineListed, isErrorObject, newError, read } from "./error-object.ts";
import {
  isMarkedNonRetryable,
  NonRetryableError,
  StepTimeoutError,
  WaitForEventTimeoutError,
} from "./errors.ts";

/** Own properties are kept while all of them together stay below this. */
const propertiesBytesMax = 4 * 1024;
/** An object with a million properties is not searched for the few that fit. */
const propertiesMax = 100;
/** How many of an AggregateError's errors are kept, as name and message. */
const errorsKept = 10;

/**
 * What is kept of anything that was thrown. Never throws itself, and its result is bounded by `errorLimits`,
 * because an instance must settle whatever its author's code throws at it.
 */
export function toStoredError(thrown: unknown): StoredError {
  try {
    return store(thrown, errorLimits.causeDepth, new Set());
  } catch {
    // Every single read is guarded; this is for what only exists to be hostile.
    return { name: "Error", message: unshowable, code: "UNKNOWN_ERROR" };
  }
}

/** The error again: of its built-in class, of ours, or a plain Error that carries the stored name. */
export function fromStoredError(stored: StoredError): Error {
  const properties = propertiesOf(stored);
  const error = revive(stored, properties);
  defineHidden(error, "message", stored.message);
  defineHidden(error, "stack", stored.stack);
  if (stored.cause !== undefined) defineHidden(error, "cause", fromStoredError(stored.cause));
  restoreProperties(error, properties);
  return error;
}

const unshowable = "A value that cannot be shown was thrown.";

// --- storing ----------------------------------------------------------------------------------------------------

function store(thrown: unknown, causesLeft: number, seen: Set<unknown>): StoredError {
  seen.add(thrown);
  if (thrown === undefined || thrown === null) return nothingThrown(thrown);
  if (typeof thrown !== "object")
    return { name: "Error", message: cut(textOf(thrown), errorLimits.messageMax) };
  return isError(thrown) ? storeError(thrown, causesLeft, seen) : storeObject(thrown, causesLeft, seen);
}

function nothingThrown(thrown: undefined | null): StoredError {
  return { name: "Error", message: `${thrown} was thrown instead of an error.`, code: "UNKNOWN_ERROR" };
}

/** Whatever is not an error may still look like one: what clients of APIs throw often does. */
function storeObject(thrown: object, causesLeft: number, seen: Set<unknown>): StoredError {
  const properties = keepProperties(thrown, errorFields);
  const message = objectMessage(thrown, properties);
  return storeAs(thrown, message, codeOfUnshowable(message), properties, causesLeft, seen);
}

function storeError(error: object, causesLeft: number, seen: Set<unknown>): StoredError {
  const code = ownCode(error);
  const properties = keepProperties(error, code === undefined ? errorFields : codedErrorFields);
  const message = messageOf(error);
  return storeAs(error, message, code ?? codeOfUnshowable(message), properties, causesLeft, seen);
}

/** Nothing can be said of it but that it was thrown. */
function codeOfUnshowable(message: string): string | undefined {
  return message === unshowable ? "UNKNOWN_ERROR" : undefined;
}

function storeAs(
  thrown: object,
  message: string,
  code: string | undefined,
  properties: EncodedValue | undefined,
  causesLeft: number,
  seen: Set<unknown>,
): StoredError {
  const cause = read(thrown, "cause");
  return withoutUndefined({
    name: nameOf(thrown),
    message: cut(message, errorLimits.messageMax),
    code,
    stack: stackOf(thrown, message),
    cause:
      cause == null || causesLeft === 0 || seen.has(cause) ? undefined : store(cause, causesLeft - 1, seen),
    properties,
  });
}

/** How much of an object's data stands in for the message it has not got. */
const describedMax = 200;

function objectMessage(thrown: object, properties: EncodedValue | undefined): string {
  const message = read(thrown, "message");
  if (typeof message === "string" && message !== "") return message;
  const text = textOf(thrown);
  const isTag = /^\[object [^\]]*\]$/.test(text);
  if (!isTag && text !== unshowable) return text;
  if (properties !== undefined) return `${noMessage}: ${cut(properties.json, describedMax)}`;
  if (!isTag) return text;
  return text === "[object Object]" ? `${noMessage}.` : `${noMessage}: ${text}`;
}

const noMessage = "An object without a message was thrown";

function nameOf(error: object): string {
  const name = read(error, "name");
  return typeof name === "string" && name !== "" ? cut(name, errorLimits.nameMax) : "Error";
}

function messageOf(error: object): string {
  const message = read(error, "message");
  return typeof message === "string" ? message : message == null ? "" : textOf(message);
}

// The stack repeats the message; a message of megabytes must not push out the frames, which are what it is read for.
function stackOf(error: object, message: string): string | undefined {
  const stack = read(error, "stack");
  if (typeof stack !== "string") return undefined;
  const at = message.length > errorLimits.messageMax ? stack.indexOf(message) : -1;
  if (at === -1) return cut(stack, errorLimits.stackMax);
  const frames = stack.slice(at + message.length);
  return cut(stack.slice(0, at) + cut(message, errorLimits.messageMax) + frames, errorLimits.stackMax);
}

// Only codes of this library are lifted out; an author's own `code` stays a property.
function ownCode(error: object): string | undefined {
  const ours =
    error instanceof EverstepError || error instanceof WaitForEventTimeoutError || hasOurName(error);
  const code = ours ? read(error, "code") : undefined;
  return typeof code === "string" && code !== "" ? cut(code, errorLimits.nameMax) : undefined;
}

// An error of another copy of the library.
function hasOurName(error: object): boolean {
  const name = read(error, "name");
  return name === "EverstepError" || name === "WaitForEventTimeoutError" || name === "StepTimeoutError";
}

const errorFields: ReadonlySet<string> = new Set(["name", "message", "stack", "cause"]);
const codedErrorFields: ReadonlySet<string> = new Set([...errorFields, "code"]);

/** The brand is a symbol, which text cannot hold; a custom name must not lose it between two steps. */
const brandKey = "everstep.nonRetryable";
const brandedNames: ReadonlySet<string> = new Set(["NonRetryableError", "WaitForEventTimeoutError"]);

function keepProperties(thrown: object, skip: ReadonlySet<string>): EncodedValue | undefined {
  const candidates = candidateProperties(thrown, skip);
  if (candidates.length === 0) return undefined;
  const all = encodeSmall(Object.fromEntries(candidates), propertiesBytesMax);
  return all ?? keepWhatFits(candidates);
}

type Property = readonly [key: string, value: unknown];

function candidateProperties(thrown: object, skip: ReadonlySet<string>): Property[] {
  const found = new Map<string, unknown>();
  if (isMarkedNonRetryable(thrown) && !brandedNames.has(nameOf(thrown))) found.set(brandKey, true);
  if (read(thrown, "name") === "AggregateError") found.set("errors", summarize(read(thrown, "errors")));
  for (const key of ownKeys(thrown).slice(0, propertiesMax)) {
    const value = skip.has(key) || found.has(key) ? undefined : read(thrown, key);
    if (value !== undefined) found.set(key, value);
  }
  return [...found];
}

function keepWhatFits(candidates: readonly Property[]): EncodedValue | undefined {
  const kept: Property[] = [];
  let encoded: EncodedValue | undefined;
  for (const candidate of candidates) {
    const more = encodeSmall(Object.fromEntries([...kept, candidate]), propertiesBytesMax);
    if (more === undefined) continue;
    kept.push(candidate);
    encoded = more;
  }
  return encoded;
}

function summarize(errors: unknown): Error[] {
  if (!Array.isArray(errors)) return [];
  return errors.slice(0, errorsKept).map((error: unknown) => {
    const { name, message } = store(error, 0, new Set());
    return newError(name, cut(message, 256), undefined);
  });
}

function isError(thrown: object): boolean {
  try {
    return isErrorObject(thrown);
  } catch {
    return false;
  }
}

function ownKeys(thrown: object): string[] {
  try {
    return Object.keys(thrown);
  } catch {
    return [];
  }
}

function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return unshowable;
  }
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const note = `… (${text.length} characters)`;
  return text.slice(0, max - note.length).replace(/[\ud800-\udbff]$/, "") + note;
}

function withoutUndefined(fields: { [Key in keyof StoredError]: StoredError[Key] | undefined }): StoredError {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as StoredError;
}

// --- reviving ---------------------------------------------------------------------------------------------------

type Properties = Record<string, unknown>;

function propertiesOf(stored: StoredError): Properties {
  const decoded = stored.properties === undefined ? {} : decodeValue(stored.properties);
  return typeof decoded === "object" && decoded !== null ? (decoded as Properties) : {};
}

function restoreProperties(error: Error, properties: Properties): void {
  const { [brandKey]: _brand, ...rest } = properties;
  for (const [key, value] of Object.entries(rest)) defineListed(error, key, value);
  if (error instanceof AggregateError) defineHidden(error, "errors", rest.errors ?? []);
}

// Only classes named here come back as themselves; text from a store never chooses a class of the author's.
function revive(stored: StoredError, properties: Properties): Error {
  if (isMissedEvent(stored)) return missedEvent(stored, properties);
  if (isStepTimeout(stored)) return new StepTimeoutError(String(properties.step), 0, 0);
  if (isBranded(stored, properties)) return new NonRetryableError(stored.message, stored.name);
  if (stored.code !== undefined) return reviveOurs(stored, stored.code);
  return newError(stored.name, stored.message, stored.stack);
}

/** In the words it was recorded with, which may be those of an earlier version. */
function missedEvent({ message }: StoredError, { step }: Properties): WaitForEventTimeoutError {
  return Object.assign(new WaitForEventTimeoutError(String(step), {}), { message });
}

function isMissedEvent(stored: StoredError): boolean {
  return stored.name === "WaitForEventTimeoutError" && stored.code === "WAIT_FOR_EVENT_TIMEOUT";
}

function isStepTimeout(stored: StoredError): boolean {
  return stored.name === "StepTimeoutError" && stored.code === "STEP_TIMEOUT";
}

function isBranded(stored: StoredError, properties: Properties): boolean {
  return stored.name === "NonRetryableError" || properties[brandKey] === true;
}

function reviveOurs(stored: StoredError, code: string): EverstepError {
  const error = new EverstepError(code as ErrorCode, stored.message);
  if (error.name !== stored.name) defineListed(error, "name", stored.name);
  return error;
}
