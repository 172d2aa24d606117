/** Finds out whether something is a history document that this version can read, and says what is wrong if it is not. */
import { decodeValue } from "../../authoring/codec.ts";
import { EverstepError } from "../../model/error.ts";
import { instanceStatuses } from "../../model/instance.ts";
import { type HistoryDocument, historyFormat, historyVersion } from "./history-document.ts";

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown, place: string) => void;

export function readDocument(given: unknown): HistoryDocument {
  if (!isFields(given) || given.format !== historyFormat) {
    throw invalid(
      typeof given === "string"
        ? "it is text; pass what JSON.parse makes of it"
        : "it is not a document that exportHistory made",
    );
  }
  if (given.version !== historyVersion) throw unknownVersion(given.version);
  document(given, "history");
  const steps = given.steps as readonly Fields[];
  requireUnique(steps, "index");
  requireUnique(steps, "key");
  requireUnique(
    steps.filter(({ status }) => status !== "waiting"),
    "settledIndex",
  );
  return given as unknown as HistoryDocument;
}

const text: Check = (value, place) => require(typeof value === "string", place, "text");
const flag: Check = (value, place) => require(typeof value === "boolean", place, "true or false");
const time: Check = (value, place) => require(Number.isFinite(value), place, "a number");
const whole: Check = (value, place) =>
  require(Number.isSafeInteger(value) && (value as number) >= 0, place, "a whole number");

const orNull =
  (check: Check): Check =>
  (value, place) => {
    if (value !== null) check(value, place);
  };

const orMissing =
  (check: Check): Check =>
  (value, place) => {
    if (value !== undefined) check(value, place);
  };

const listOf =
  (check: Check): Check =>
  (value, place) => {
    if (!Array.isArray(value)) throw wrong(place, "a list");
    for (const [at, item] of value.entries()) check(item, `${place}[${at}]`);
  };

const oneOf =
  (...words: readonly string[]): Check =>
  (value, place) =>
    require(words.includes(value as string), place, `one of ${words.join(", ")}`);

const record =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, place) => {
    if (!isFields(value)) throw wrong(place, "an object");
    for (const [key, check] of Object.entries(checks)) check(value[key], `${place}.${key}`);
  };

const encodedValue: Check = (value, place) => {
  record({ json: text, marks: orNull(text) })(value, place);
  try {
    decodeValue(value as HistoryDocument["params"]);
  } catch (cause) {
    throw invalid(`${place} cannot be read`, cause);
  }
};

const storedError: Check = (value, place) =>
  record({
    name: text,
    message: text,
    code: orMissing(text),
    stack: orMissing(text),
    cause: orMissing(storedError),
    properties: orMissing(encodedValue),
  })(value, place);

const stepFacts = record({
  index: whole,
  key: text,
  name: text,
  count: whole,
  type: oneOf("do", "sleep", "waitForEvent"),
  status: oneOf("waiting", "completed", "errored"),
  parentKey: orNull(text),
  depth: whole,
  createdAt: time,
  attempts: whole,
  starts: whole,
  maxAttempts: orNull(whole),
  timeoutMs: orNull(time),
  errors: listOf(
    record({
      attempt: whole,
      at: time,
      error: storedError,
      retryAt: orMissing(time),
      reopenedAt: orMissing(time),
    }),
  ),
  eventType: orNull(text),
  topic: orNull(text),
  wakeAt: orNull(time),
});

const settled = { settledIndex: whole, settledAt: time };
const byStatus: Readonly<Record<string, Check>> = {
  waiting: record({ waitsFor: oneOf("timer", "retry", "event"), wakeAt: time }),
  completed: record({ ...settled, result: encodedValue }),
  errored: record({ ...settled, error: storedError }),
};

const step: Check = (value, place) => {
  stepFacts(value, place);
  byStatus[(value as { status: string }).status]?.(value, place);
};

const instanceRef = record({ workflowName: text, instanceId: text });

const document = record({
  redacted: flag,
  workflowName: text,
  instanceId: text,
  runNumber: whole,
  status: oneOf(...instanceStatuses),
  params: encodedValue,
  output: orNull(encodedValue),
  error: orNull(storedError),
  createdAt: time,
  parent: orNull(instanceRef),
  begun: listOf(record({ key: text, name: text, start: whole, at: time })),
  steps: listOf(step),
  events: listOf(record({ seq: whole, id: text, payload: encodedValue, createdAt: time })),
  logs: orMissing(listOf(record({ message: text, data: orNull(encodedValue) }))),
});

function requireUnique(steps: readonly Fields[], field: string): void {
  if (new Set(steps.map((each) => each[field])).size === steps.length) return;
  throw invalid(`two of its steps have the same ${field}`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function require(holds: boolean, place: string, what: string): void {
  if (!holds) throw wrong(place, what);
}

function wrong(place: string, what: string): EverstepError {
  return invalid(`${place} is not ${what}`);
}

function invalid(problem: string, cause?: unknown): EverstepError {
  return new EverstepError(
    "INVALID_HISTORY",
    `This history cannot be replayed: ${problem}. Export it again with instance.exportHistory().`,
    { cause },
  );
}

function unknownVersion(version: unknown): EverstepError {
  return new EverstepError(
    "HISTORY_VERSION_UNKNOWN",
    `This history has format version ${String(version)}, and this version of everstep reads ${historyVersion}. ` +
      "Use the version of everstep that exported it, or a newer one.",
    { details: { version, readable: historyVersion } },
  );
}
