/** The text of one argument or option, as the value it stands for. */
import type { ValueType } from "./command.ts";
import { parseJson } from "./json.ts";
import { UsageError } from "./problems.ts";
import { nearest } from "./suggestion.ts";

interface Expected {
  readonly type?: ValueType;
  readonly choices?: readonly string[];
}

/** `what` is how the user gave it: `--page-size`, `<id>`. */
export function readValue(what: string, expected: Expected, text: string): unknown {
  if (expected.choices !== undefined) return checkChoice(what, expected.choices, text);
  switch (expected.type ?? "text") {
    case "text":
      return text;
    case "number":
      return wholeNumber(what, text);
    case "duration":
      return milliseconds(what, text);
    case "json":
      return parseJson(what, text);
  }
}

function checkChoice(what: string, choices: readonly string[], text: string): string {
  if (choices.includes(text)) return text;
  const meant = nearest(text, choices);
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}; use one of ${choices.join(", ")}.`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}

function wholeNumber(what: string, text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number)) return number;
  throw new UsageError(`${what} is ${JSON.stringify(text)}; it must be a whole number.`);
}

function milliseconds(what: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const size = units[match?.[2]?.toLowerCase() ?? "?"];
  if (match !== null && size !== undefined) return Math.ceil(Number(match[1]) * size);
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}; it must be a duration: milliseconds (1500), or a number with a unit (500ms, 30s, 2m, 1h).`,
  );
}

const units: Readonly<Record<string, number | undefined>> = {
  "": 1,
  ms: 1,
  s: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
};
