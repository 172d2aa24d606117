import { type ErrorCode, EverstepError } from "../model/error.ts";
import type { Limits } from "../model/limits.ts";
import { systemCategory } from "../model/log-line.ts";

// Lengths are checked before anything is matched, so a megabyte of text costs no more than a short one.

export function checkWorkflowName(value: unknown, limits: Limits): string {
  return checkWord(value, limits.maxWorkflowNameLength, "A workflow name", "INVALID_WORKFLOW_NAME");
}

export function checkInstanceId(value: unknown, limits: Limits): string {
  return checkWord(value, limits.maxInstanceIdLength, "An instance id", "INVALID_INSTANCE_ID");
}

export function checkEventType(value: unknown, limits: Limits): string {
  return checkWord(value, limits.maxEventTypeLength, "An event type", "INVALID_EVENT_TYPE");
}

export function checkTopic(value: unknown, limits: Limits): string {
  const topic = checkLength(value, limits.maxTopicLength, "A topic", "INVALID_TOPIC");
  if (topicPattern.test(topic)) return topic;
  throw refuse(
    "INVALID_TOPIC",
    `A topic consists of letters, digits, "_", ".", ":" and "-", and does not begin with ".", ":" or "-"`,
    topic,
  );
}

/** The name as it is kept: without space around it. */
export function checkStepName(value: unknown, limits: Limits): string {
  const trimmed = typeof value === "string" ? value.trim() : value;
  const name = checkLength(trimmed, limits.maxStepNameLength, "A step name", "INVALID_STEP_NAME");
  if (isStorableText(name)) return name;
  throw refuse("INVALID_STEP_NAME", "A step name has no control characters and no broken characters", name);
}

export function checkLogCategory(value: unknown, limits: Limits): string {
  const category = checkLength(value, limits.maxLogCategoryLength, "A log category", "INVALID_LOG");
  if (!isStorableText(category))
    throw refuse(
      "INVALID_LOG",
      "A log category has no control characters and no broken characters",
      category,
    );
  if (category.trim().toLowerCase() !== systemCategory) return category;
  throw refuse(
    "INVALID_LOG",
    `The log category "${systemCategory}" is reserved for lines the engine writes; use another word`,
    category,
  );
}

const wordPattern = /^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/;
const topicPattern = /^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/;

function checkWord(value: unknown, max: number, what: string, code: ErrorCode): string {
  const word = checkLength(value, max, what, code);
  if (wordPattern.test(word)) return word;
  throw refuse(code, `${what} consists of letters, digits, "_" and "-", and does not begin with "-"`, word);
}

function checkLength(value: unknown, max: number, what: string, code: ErrorCode): string {
  if (typeof value !== "string") throw refuse(code, `${what} is text`, value);
  if (value === "") throw refuse(code, `${what} has at least one character`, value);
  if (value.length > max)
    throw refuse(code, `${what} has at most ${max} characters, and this one has ${value.length}`, value);
  return value;
}

// Stores keep UTF-8 text: half a surrogate pair would come back as another character, and a step under another key.
function isStorableText(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return !/[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(value);
}

function refuse(code: ErrorCode, rule: string, value: unknown): EverstepError {
  const shown = show(value);
  return new EverstepError(code, `${rule}: got ${shown}.`, { details: { value: shown } });
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length <= 40 ? value : `${value.slice(0, 39)}…`);
  if (value === null || value === undefined) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
