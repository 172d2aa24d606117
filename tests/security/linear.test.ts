/** Ten times as much text costs about ten times as much, wherever text comes in: nothing can be made to think for ever. */
import { httpClassifier, statusFrom } from "everstep";
import { describe, expect, test } from "vitest";
import { retryAfterOf } from "../../packages/everstep/src/authoring/classify.ts";
import { decodeValue, encodeSmall, encodeValue } from "../../packages/everstep/src/authoring/codec.ts";
import { utf8Bytes } from "../../packages/everstep/src/authoring/codec-bytes.ts";
import { parseDuration } from "../../packages/everstep/src/authoring/duration.ts";
import {
  checkEventType,
  checkInstanceId,
  checkLogCategory,
  checkStepName,
  checkTopic,
  checkWorkflowName,
} from "../../packages/everstep/src/authoring/names.ts";
import { toStoredError } from "../../packages/everstep/src/authoring/stored-error.ts";
import { decodeCursor } from "../../packages/everstep/src/client/cursor.ts";
import { checkEventKey } from "../../packages/everstep/src/engine/plan-event.ts";
import { defaultLimits } from "../../packages/everstep/src/model/limits.ts";
import { checkNamespace } from "../../packages/everstep/src/store/namespace.ts";

const mib = 1024 * 1024;

/** With the limits out of the way, so that whatever is behind them gets to see all of the text. */
const boundless = {
  ...defaultLimits,
  maxWorkflowNameLength: Number.POSITIVE_INFINITY,
  maxInstanceIdLength: Number.POSITIVE_INFINITY,
  maxStepNameLength: Number.POSITIVE_INFINITY,
  maxEventTypeLength: Number.POSITIVE_INFINITY,
  maxTopicLength: Number.POSITIVE_INFINITY,
  maxLogCategoryLength: Number.POSITIVE_INFINITY,
};

const doors: Record<string, (text: string) => unknown> = {
  "a workflow's name": (text) => checkWorkflowName(text, boundless),
  "an instance id": (text) => checkInstanceId(text, boundless),
  "an event type": (text) => checkEventType(text, boundless),
  "an idempotency key of an event": (text) => checkEventKey(text),
  "a topic": (text) => checkTopic(text, boundless),
  "a step's name": (text) => checkStepName(text, boundless),
  "a log category": (text) => checkLogCategory(text, boundless),
  "a duration": (text) => parseDuration(text, "duration"),
  "a namespace": (text) => checkNamespace(text, "store"),
  "a cursor": (text) => decodeCursor("instances:w", text),
  "a status": (text) => statusFrom(text),
  "a retry-after header": (text) => retryAfterOf({ headers: { "retry-after": text } }, 0),
  "a retryAfter property": (text) => retryAfterOf({ retryAfter: text }, 0),
  "an error's words": (text) =>
    toStoredError(Object.assign(new Error(text), { name: text, code: text, body: text })),
  "what a classifier looks at": (text) => httpClassifier(Object.assign(new Error(text), { code: text }), 0),
  "the size of a text": (text) => utf8Bytes(text),
  "a value": (text) => decodeValue(encodeValue({ text, list: [text, undefined] }, "value")),
  "a value that must be small": (text) => encodeSmall({ text }, 4096),
  "marks in a value": (text) =>
    decodeValue(
      encodeValue(
        [...text.slice(0, text.length / 64)].map(() => undefined),
        "value",
      ),
    ),
};

/** What makes careless patterns go back and try again. */
const texts: Record<string, (size: number) => string> = {
  "of letters": (size) => "a".repeat(size),
  "of letters and one thing wrong": (size) => `${"a".repeat(size - 1)}!`,
  "of spaces": (size) => " ".repeat(size),
  "of spaces around a letter": (size) => `${" ".repeat(size / 2)}a${" ".repeat(size / 2)}`,
  "of digits": (size) => "1".repeat(size),
  "of digits and a letter": (size) => `${"1".repeat(size - 1)}x`,
  "of digits and points": (size) => "1.".repeat(size / 2),
  "of digits and a unit": (size) => `${"1".repeat(size)} seconds`,
  "of hyphens": (size) => `a${"-".repeat(size)}`,
  "of separators": (size) => `a${".:-".repeat(size / 3)}`,
  "of brackets": (size) => "[".repeat(size),
  "of half characters": (size) => "\ud83e".repeat(size),
  "of emoji": (size) => "🎉".repeat(size / 2),
  "of NUL": (size) => "\0".repeat(size),
};

/** Milliseconds of the processor, which pass only while we are at it, for one call of many. */
function cost(act: () => unknown): number {
  const before = process.cpuUsage();
  for (let calls = 1; ; calls++) {
    try {
      act();
    } catch {}
    const { user } = process.cpuUsage(before);
    if (user >= 10_000 || calls >= 300) return user / 1000 / calls;
  }
}

/** What takes next to nothing cannot be compared. */
const floorMs = 0.05;

function growthOf(enter: (text: string) => unknown, small: string, large: string): number {
  const before = Math.max(
    cost(() => enter(small)),
    floorMs,
  );
  return cost(() => enter(large)) / before;
}

describe("SEC-11 ten times the text costs less than thirty times the time:", () => {
  test.each(Object.entries(doors))("%s", (_door, enter) => {
    for (const [what, make] of Object.entries(texts)) {
      const [small, large] = [make(Math.floor(mib / 10)), make(mib)];
      // Whoever is disturbed by others may try again; what grows faster stays so.
      let growth = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 3 && growth >= 30; tries++) growth = growthOf(enter, small, large);
      expect(growth, what).toBeLessThan(30);
    }
  });

  test("at the door, a megabyte is refused by its length, before anybody reads it", () => {
    const short = cost(() => checkInstanceId("!", defaultLimits));
    for (const make of Object.values(texts)) {
      const long = make(mib);
      expect(cost(() => checkInstanceId(long, defaultLimits))).toBeLessThan(short + 1);
      expect(cost(() => parseDuration(long, "duration"))).toBeLessThan(short + 1);
    }
  });
});
