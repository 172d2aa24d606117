/** A problem as text for a log: what it is in one line, where it came from, and what it was caused by. */
import { cleaned } from "./clean-text.ts";

/** Nothing in it can forge a line of the log or steer a terminal, whoever wrote the message. */
export function problemText(problem: unknown): string {
  return linesOf(problem, causesMax).join("\n");
}

/** Each may be the cause of the next, in a circle even. */
const causesMax = 4;

function linesOf(problem: unknown, causesLeft: number): readonly string[] {
  if (!(problem instanceof Error)) return [cleaned(textOf(problem))];
  const { name, message, stack, cause, code, details, errors } = problem as ErrorFacts;
  const causes = [...(cause === undefined ? [] : [cause]), ...(Array.isArray(errors) ? errors : [])];
  const known = typeof code === "string" ? ` (${code})` : "";
  const more = details === undefined ? "" : ` ${textOf(details)}`;
  const frames = (stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return [
    cleaned(`${name}: ${message}${known}${more}`),
    // A message may have lines that look like frames, but none of them begins with anything else.
    ...frames.map((frame) => `    ${cleaned(frame.trim())}`),
    ...(causesLeft === 0
      ? []
      : causes.slice(0, causesMax).flatMap((each) => causeLines(each, causesLeft - 1))),
  ];
}

interface ErrorFacts extends Error {
  readonly code?: unknown;
  readonly details?: unknown;
  /** Of an AggregateError: a connection that was tried at several addresses. */
  readonly errors?: unknown;
}

function causeLines(cause: unknown, causesLeft: number): readonly string[] {
  const [first = "", ...rest] = linesOf(cause, causesLeft);
  return [`  caused by ${first}`, ...rest];
}

function textOf(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
