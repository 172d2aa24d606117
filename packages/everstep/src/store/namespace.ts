import { EverstepError } from "../model/error.ts";

/** What keeps apps on one server apart becomes part of names of schemas, tables or keys, so only plain words will do. */
export function checkNamespace(namespace: unknown, opener: string): string {
  if (typeof namespace === "string" && /^[a-z_][a-z0-9_]{0,30}$/.test(namespace)) return namespace;
  const shown = typeof namespace === "string" ? JSON.stringify(namespace.slice(0, 40)) : typeof namespace;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${opener}() takes a namespace of at most 31 lower-case letters, digits and "_", not beginning with a digit, ` +
      `not ${shown}.`,
  );
}
