/** An option under a name that nobody reads would be lost without a word: it is refused, with the name that was meant. */
import { type ErrorCode, EverstepError } from "./error.ts";
import { nearest } from "./nearest.ts";

/** Every name that options may have; the type sees to it that none is forgotten. */
export type NamesOf<Options> = { readonly [Name in keyof Options]-?: true };

/** Looks at plain objects only: one of a class may have fields of its own. What is undefined is left out. */
export function checkNames(
  given: object,
  known: Readonly<Record<string, true>>,
  what: string,
  code: ErrorCode = "INVALID_ARGUMENT",
): void {
  for (const name in given) {
    if (!Object.hasOwn(known, name) && isMeant(given, name)) throw unknownName(name, known, what, code);
  }
}

function isMeant(given: object, name: string): boolean {
  const kind: unknown = Object.getPrototypeOf(given);
  return (
    (kind === Object.prototype || kind === null) &&
    (given as Readonly<Record<string, unknown>>)[name] !== undefined
  );
}

function unknownName(
  name: string,
  known: Readonly<Record<string, true>>,
  what: string,
  code: ErrorCode,
): EverstepError {
  return new EverstepError(code, `${what} has no "${name}". ${meant(name, Object.keys(known))}`);
}

/** The word that was meant, or all there are. */
export function meant(typed: string, known: readonly string[]): string {
  const near = nearest(typed, known);
  return near === undefined ? `There are ${known.join(", ")}.` : `Did you mean "${near}"?`;
}

/** Of a few words one; `typed` is what somebody gave instead. */
export function checkWord(typed: unknown, known: readonly string[], what: string): void {
  if (known.includes(typed as string)) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${what} is ${JSON.stringify(typed) ?? String(typed)}, which it cannot be. ${meant(String(typed), known)}`,
  );
}
