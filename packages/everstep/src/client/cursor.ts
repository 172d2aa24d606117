import { EverstepError } from "../model/error.ts";

/** A place in a paged list, opaque to callers and bound to the list it came from. */
export function encodeCursor(list: string, position: string): string {
  return toBase64Url(`1:${list}:${position}`);
}

export function decodeCursor(list: string, cursor: string): string {
  const text = fromBase64Url(cursor);
  const prefix = `1:${list}:`;
  if (text?.startsWith(prefix)) return text.slice(prefix.length);
  throw new EverstepError(
    "INVALID_CURSOR",
    "The cursor does not belong to this list. Pass the cursor of the page before, or none to begin again.",
  );
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
