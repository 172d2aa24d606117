/** The body of a request: measured in bytes before it is parsed, and refused as soon as it is too much. */
import { EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";
import type { Issue, Schema } from "../wire/schema.ts";
import { invalid } from "./problems.ts";

/** Nested deeper than this, JSON is an attack or a mistake. */
const depthMax = 64;
/** Names and values in one body. */
const partsMax = 200_000;

/** An empty body is read as an empty object: most actions need nothing more. */
export async function readBody<Value>(
  request: Request,
  schema: Schema<Value>,
  maxBytes: number,
): Promise<Value> {
  const text = await readText(request, maxBytes);
  const value = text === "" ? {} : parse(text);
  const issues: Issue[] = [];
  const read = schema.read(value, "", issues);
  if (issues.length > 0) throw invalid("The body", issues);
  return read;
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new EverstepError(
      "UNSUPPORTED_MEDIA_TYPE",
      `The body is encoded (${shown(encoding)}); send it as it is, without content-encoding.`,
    );
  }
  const type = request.headers.get("content-type");
  // Where there is one, it counts even for a body of nothing: the forms of other sites always have one.
  if (type !== null) requireJson(type);
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const chunks = await readChunks(request, maxBytes);
  if (chunks.length === 0) return "";
  requireJson(type ?? "");
  return decode(chunks);
}

async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array[]> {
  if (!request.body) return [];
  // Nothing would be left of it, and nothing means something too: a restart from the beginning.
  if (request.bodyUsed || request.body.locked) throw alreadyRead();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return chunks;
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      if (value.byteLength > 0) chunks.push(value);
    }
  } catch (problem) {
    void reader.cancel().catch(() => {});
    if (problem instanceof EverstepError) throw problem;
    throw new EverstepError("INVALID_BODY", "The body broke off. Send the request again.", {
      cause: problem,
    });
  }
}

/** Also what keeps forms of other sites out: they can send anything but JSON. */
function requireJson(type: string): void {
  const [mime = "", ...terms] = type.split(";").map((part) => part.trim().toLowerCase());
  const charset = terms
    .find((term) => term.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  if (mime === "application/json" && (charset === undefined || charset === "utf-8" || charset === "utf8"))
    return;
  throw new EverstepError(
    "UNSUPPORTED_MEDIA_TYPE",
    `The body is ${type === "" ? "of no type" : shown(type)}; send JSON with content-type: application/json.`,
  );
}

function decode(chunks: readonly Uint8Array[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    throw new EverstepError("INVALID_BODY", "The body is not UTF-8. Send JSON in UTF-8.");
  }
}

function parse(text: string): unknown {
  checkSize(text);
  const value = parseText(text);
  checkNumbers(value);
  return value;
}

function parseText(text: string): unknown {
  try {
    return parseJson(text);
  } catch (problem) {
    const why = problem instanceof Error ? problem.message.slice(0, 200) : "";
    throw new EverstepError("INVALID_BODY", `The body is not JSON: ${why}`);
  }
}

/** What is beyond the largest number is read as Infinity, which nobody has sent. */
function checkNumbers(value: unknown): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw tooLargeNumber();
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) checkNumbers(inner);
}

/** Before parsing: depth and number of parts, outside of strings. */
function checkSize(text: string): void {
  let depth = 0;
  let parts = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inString) {
      if (char === 0x5c) at++;
      else if (char === 0x22) inString = false;
    } else if (char === 0x22) inString = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > depthMax) throw tooDeep();
    } else if (char === 0x5d || char === 0x7d) depth--;
    else if (char === 0x2c && ++parts > partsMax) throw tooMany();
  }
}

function alreadyRead(): EverstepError {
  return new EverstepError(
    "INTERNAL_ERROR",
    "The body of the request had been read before it came here. Where authorize.request or code around the handler " +
      "needs it, let it read request.clone().",
  );
}

function tooDeep(): EverstepError {
  return new EverstepError("INVALID_BODY", `The body is nested deeper than ${depthMax} levels. Flatten it.`);
}

function tooLargeNumber(): EverstepError {
  return new EverstepError(
    "INVALID_BODY",
    "The body has a number beyond 1.7976931348623157e308, the largest there is. Send it as text.",
  );
}

function tooMany(): EverstepError {
  return new EverstepError(
    "INVALID_BODY",
    `The body has more than ${partsMax} parts. Keep large data elsewhere and pass a reference.`,
  );
}

function tooLarge(maxBytes: number): EverstepError {
  return new EverstepError(
    "BODY_TOO_LARGE",
    `The body is larger than ${maxBytes} bytes. Keep large data elsewhere and pass a reference.`,
    { details: { maxBytes } },
  );
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
