import { expect, test } from "vitest";
import {
  completeRecord,
  doneStep,
  erroredRecord,
  failedStep,
  foundIn,
  runOf,
  sent,
} from "../../../../../tests/support/sample-run.ts";
import { encodeValue } from "../../authoring/codec.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { RunFacts } from "../run-facts.ts";

const rich = encodeValue({ at: new Date(0), big: 1n, seen: new Map([["a", new Set([undefined])]]) }, "value");
const torn: EncodedValue = { json: '{"a":', marks: null };
const lying: EncodedValue = { json: '"soon"', marks: '[[[],"Date"]]' };

function withValue(value: EncodedValue): readonly (readonly [string, RunFacts])[] {
  return [
    ["params", runOf(completeRecord({ params: value }))],
    ["output", runOf(completeRecord({ output: value }))],
    ["result", runOf(completeRecord(), [doneStep({ key: "a", result: value })])],
    ["payload", runOf(completeRecord(), [], [sent({ seq: 1, payload: value })])],
    [
      "properties of an error",
      runOf(erroredRecord({ error: { name: "E", message: "m", properties: value } })),
    ],
  ];
}

test.each(withValue(rich))("INV-45 %s of any kind can be read", (_name, facts) => {
  expect(foundIn(facts)).toEqual([]);
});

test.each([...withValue(torn), ...withValue(lying)])(
  "INV-45 %s that cannot be read are found",
  (_name, facts) => {
    expect(foundIn(facts)).toEqual(["INV-45"]);
  },
);

const nameless = { message: "m" } as StoredError;
const endless = [1, 2, 3, 4, 5, 6].reduce<StoredError>((cause) => ({ name: "E", message: "m", cause }), {
  name: "E",
  message: "m",
});

test.each<[string, RunFacts]>([
  ["the run's error", runOf(erroredRecord({ error: nameless }))],
  ["a cause", runOf(erroredRecord({ error: { name: "E", message: "m", cause: nameless } }))],
  ["a step's error", runOf(erroredRecord(), [failedStep({ key: "a", error: nameless })])],
  [
    "an attempt's error",
    runOf(erroredRecord(), [failedStep({ key: "a", errors: [{ attempt: 1, at: 1, error: nameless }] })]),
  ],
  ["a chain of causes without end", runOf(erroredRecord({ error: endless }))],
])("INV-45 %s without a name or beyond all bounds is found", (_name, facts) => {
  expect(foundIn(facts)).toEqual(["INV-45"]);
});
