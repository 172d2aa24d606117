/** Values and errors of workflows in one line of text. */
import type { WireError } from "../../wire/index.ts";

/** As JSON; a long one only begins. */
export function shortValue(value: unknown, max = 120): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

/** As JSON in lines. */
export function valueLines(value: unknown): readonly string[] {
  return value === undefined ? ["nothing"] : JSON.stringify(value, null, 2).split("\n");
}

/** "Error: no money (NO_MONEY)" */
export function errorText({ name, message, code }: WireError): string {
  return `${name}: ${message}${code === undefined ? "" : ` (${code})`}`;
}
