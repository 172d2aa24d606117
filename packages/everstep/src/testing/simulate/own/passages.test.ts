import { expect, test } from "vitest";
import { Broken } from "../finding.ts";
import { answerText, type Passage, Passages } from "./passages.ts";

type Happened = readonly ["asked" | "answered" | "ended", string?, unknown?];

function pass(passage: Passage, ...happened: readonly Happened[]): string {
  try {
    for (const [what, step = "", value] of happened) {
      if (what === "asked") passage.asked(step);
      else if (what === "answered") passage.answered(step, answerText(value));
      else passage.ended();
    }
    return "the same";
  } catch (error) {
    return error instanceof Broken ? error.finding.message.replace(/ What a workflow.*/, "") : String(error);
  }
}

const first: readonly Happened[] = [
  ["asked", "load"],
  ["answered", "load", 7],
  ["asked", "mail"],
  ["asked", "nap"],
  ["answered", "mail", new Map([["a", 1]])],
  ["ended"],
];

test.each<[string, readonly Happened[], string]>([
  ["all of it again", first, "the same"],
  ["only the beginning", first.slice(0, 3), "the same"],
  [
    "another answer, and then something else",
    [
      ["asked", "load"],
      ["answered", "load", 8],
      ["asked", "call"],
    ],
    "the same",
  ],
  ["another order of answers", [...first.slice(0, 4), ["answered", "nap"], ["asked", "end"]], "the same"],
  [
    "another step",
    [...first.slice(0, 2), ["asked", "call"]],
    'a "a-1" asked for mail in one passage and asked for call in another, having been told the same (load).',
  ],
  [
    "one step fewer",
    [...first.slice(0, 3), ["answered", "mail", 1]],
    'a "a-1" asked for nap in one passage and went on without it in another, having been told the same (load).',
  ],
  [
    "one step more",
    [...first.slice(0, 1), ["asked", "extra"]],
    'a "a-1" did not ask for extra in one passage and asked for it in another, having been told the same (nothing yet).',
  ],
  [
    "an early end",
    [...first.slice(0, 2), ["ended"]],
    'a "a-1" asked for mail in one passage and returned in another, having been told the same (load).',
  ],
])("%s", (_name, again, words) => {
  const passages = new Passages();
  expect(pass(passages.begin("a/1", 'a "a-1"'), ...first)).toBe("the same");
  expect(pass(passages.begin("a/1", 'a "a-1"'), ...again)).toBe(words);
});

test("runs have nothing to do with each other", () => {
  const passages = new Passages();
  pass(passages.begin("a/1", "a"), ["asked", "mail"], ["ended"]);
  expect(pass(passages.begin("a/2", "a"), ["asked", "call"])).toBe("the same");
});

test("a passage that was cut off says nothing about what would have come", () => {
  const passages = new Passages();
  pass(passages.begin("a/1", "a"), ["asked", "load"]);
  expect(
    pass(passages.begin("a/1", "a"), ["asked", "load"], ["asked", "mail"], ["answered", "load", 1]),
  ).toBe("the same");
});
