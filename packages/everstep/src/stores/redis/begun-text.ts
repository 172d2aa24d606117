/** Bodies in flight, short enough to lie among the hot fields of a run. */
import type { BegunBody } from "../../model/instance.ts";
import { parse } from "./record-text.ts";
import { unreadable } from "./reply.ts";

const none: readonly BegunBody[] = [];

/** Nothing in flight is the common case and costs no text. */
export function begunText(begun: readonly BegunBody[]): string {
  if (begun.length === 0) return "";
  return JSON.stringify(begun.map(({ key, name, start, at }) => [key, name, start, at]));
}

export function readBegun(text: string | null): readonly BegunBody[] {
  if (text === null) return none;
  const list = parse(text);
  if (!Array.isArray(list)) throw unreadable("bodies in flight", text);
  return list.map((body: unknown) => {
    if (!Array.isArray(body)) throw unreadable("a body in flight", text);
    const [key, name, start, at] = body;
    if (typeof key !== "string" || typeof start !== "number" || typeof at !== "number") {
      throw unreadable("a body in flight", text);
    }
    return { key, name, start, at };
  });
}

/** Undefined when it is damaged. */
export function readBegunIfSound(text: string | null): readonly BegunBody[] | undefined {
  try {
    return readBegun(text);
  } catch {
    return undefined;
  }
}
