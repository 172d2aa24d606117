/** JSON that a person typed: when it is none, they are shown where. */
import { parseJson } from "../model/json.ts";
import { findJsonMistake } from "./json-mistake.ts";
import { UsageError } from "./problems.ts";

/** `what` is where it came from: `--params`, `params.json`. */
export function readJson(what: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw mistakeIn(what, text);
  }
}

const around = 30;

function mistakeIn(what: string, text: string): UsageError {
  const { at, expected } = findJsonMistake(text);
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const lineEnd = text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at);
  const from = Math.max(lineStart, at - around);
  const shown = text.slice(from, Math.min(lineEnd, at + around)).replace(/\p{C}/gu, " ");
  const line = text.slice(0, at).split("\n").length;
  const place = `${line === 1 ? "" : `line ${line}, `}column ${at - lineStart + 1}`;
  return new UsageError(
    `${what} is not JSON at ${place}: ${expected}.`,
    `\n    ${shown}\n    ${" ".repeat(at - from)}^\n${adviceFor(text)}`,
  );
}

function adviceFor(text: string): string {
  return text.startsWith("'") || /^[\w ]+$/.test(text)
    ? `Text is JSON in double quotes, and the shell takes one pair away: '"text"'.`
    : `In most shells single quotes around it keep the double quotes inside: '{"amount": 5}'.`;
}
