import { EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";

/** A place in a paged list, opaque to callers and bound to the list it came from. */
export function encodeCursor(list: string, position: string): string {
  return toBase64Url(JSON.stringify([version, list, position]));
}

export function decodeCursor(list: string, cursor: string): string {
  const text = fromBase64Url(cursor);
  // Names of lists may hold any separator, so the parts are kept apart by JSON.
  const prefix = `${JSON.stringify([version, list]).slice(0, -1)},`;
  const position = text?.startsWith(prefix) ? parse(text)?.[2] : undefined;
  if (typeof position === "string") return position;
  throw new EverstepError(
    "INVALID_CURSOR",
    "The cursor does not belong to this list. Pass the cursor of the page before, or none to begin again.",
  );
}

const version = 1;

function parse(text: string): readonly unknown[] | null {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function fromBase64Url(text: unknown): string | null {
  if (typeof text !== "string" || text.length > 512 || !/^[A-Za-z0-9_-]+$/.test(text)) return null;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
