import { EverstepError } from "../../../model/error.ts";

/** The flat list of texts a script reads in order. */
export class Arguments {
  readonly list: string[] = [];

  /** Texts and whole numbers. */
  add(...values: readonly (string | number)[]): this {
    for (const value of values) this.list.push(typeof value === "string" ? value : String(value));
    return this;
  }

  flag(value: boolean): this {
    return this.add(value ? "1" : "0");
  }

  /** Empty for null. */
  number(value: number | null | undefined): this {
    return this.add(value ?? "");
  }

  /** A text or null, told apart by their first letter, so that the empty text is one too. */
  text(value: string | null | undefined): this {
    return this.add(value === null || value === undefined ? "-" : `+${value}`);
  }

  /** How many there are, then each. */
  each<Item>(items: readonly Item[], add: (item: Item) => void): this {
    this.add(items.length);
    for (const item of items) add(item);
    return this;
  }
}

/** What a script answers: texts, numbers and null, in lists. Everything read from it is checked, because data can rot. */

export type Reply = string | number | null | readonly Reply[];

export function list(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) throw unreadable("a list", reply);
  return reply as readonly Reply[];
}

export function text(reply: Reply | undefined): string {
  if (typeof reply !== "string") throw unreadable("a text", reply);
  return reply;
}

export function textOrNull(reply: Reply | undefined): string | null {
  return reply === null || reply === undefined ? null : text(reply);
}

export function integer(reply: Reply | undefined): number {
  const number = typeof reply === "string" && reply !== "" ? Number(reply) : reply;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) throw unreadable("a number", reply);
  return number;
}

export function integerOrNull(reply: Reply | undefined): number | null {
  return reply === null || reply === undefined ? null : integer(reply);
}

/** One of a closed set of words. */
export function word<Word extends string>(value: unknown, words: readonly Word[]): Word {
  if (!words.includes(value as Word)) throw unreadable(`one of ${words.join(", ")}`, value);
  return value as Word;
}

export function unreadable(wanted: string, found: unknown, cause?: unknown): EverstepError {
  const shown = typeof found === "string" ? JSON.stringify(found.slice(0, 80)) : String(found);
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `A stored record cannot be read: where ${wanted} should be there is ${shown}. ` +
      "It was changed by something else or is damaged; restore it from a backup or remove the instance.",
    cause === undefined ? {} : { cause },
  );
}
