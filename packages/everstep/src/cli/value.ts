/** The text of one argument or option, as the value it stands for. */

import { nearest } from "../model/nearest.ts";
import type { ValueType } from "./command.ts";
import { readJson } from "./json.ts";
import { readMoment } from "./moment.ts";
import { UsageError } from "./problems.ts";
import { durationFrom } from "./typed-duration.ts";

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
    case "time":
      return readMoment(what, text);
    case "json":
      return readJson(what, text);
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
  const duration = durationFrom(text);
  if (duration !== undefined) return duration;
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}; it must be a duration: milliseconds (1500), or a number with a unit (500ms, 30s, 2m, 1h, 7d).`,
  );
}
