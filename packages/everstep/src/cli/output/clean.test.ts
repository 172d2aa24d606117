import { expect, test } from "vitest";
import { cleaned } from "../../model/clean-text.ts";
import { jsonDocument } from "./json-document.ts";
import { createOutput, type Output } from "./output.ts";
import { painted } from "./paint.ts";

test.each([
  ["\u001b[2J\u001b[H", "\\x1b[2J\\x1b[H"],
  ["\u001b]8;;http://evil\u0007here\u001b]8;;\u0007", "\\x1b]8;;http://evil\\x07here\\x1b]8;;\\x07"],
  ["\u009b31m", "\\x9b31m"],
  ["ok\r\u001b[Kforged", "ok\\r\\x1b[Kforged"],
  ["two\nlines\ttab", "two\\nlines\\ttab"],
  ["a\u202egnp.exe", "a\\u202egnp.exe"],
  ["\u2066hidden\u2069\u200b\ufeff", "\\u2066hidden\\u2069\\u200b\\ufeff"],
  ["\u{e0041}tag", "\\u{e0041}tag"],
  ["half \ud800", "half \\ud800"],
  ["line\u2028para\u2029", "line\\u2028para\\u2029"],
  ["Grüße, 日本, 👩‍👩‍👧, نمی‌خواهم", "Grüße, 日本, 👩‍👩‍👧, نمی‌خواهم"],
])("SEC-24: %j is shown as %s", (text, shown) => {
  expect(cleaned(text)).toBe(shown);
});

test("SEC-24: a line cannot be steered from outside, with colours or without; only our own colours are codes", () => {
  const evil = "\u001b]0;title\u0007\n";
  expect(written(false, (out) => out.line("a ", evil, painted("red", evil)))).toBe(
    "a \\x1b]0;title\\x07\\n\\x1b]0;title\\x07\\n\n",
  );
  expect(written(true, (out) => out.line(painted("red", painted("bold", evil))))).toBe(
    "\u001b[31m\u001b[1m\\x1b]0;title\\x07\\n\u001b[22m\u001b[39m\n",
  );
});

test("SEC-24: JSON for programs holds nothing that steers a terminal, and is the same JSON", () => {
  const value = { "\u009b31m": "\u202e \u001b[0m \u{e0041} \u2028 ü" };
  const text = jsonDocument(value);
  expect(text.replaceAll("\n", "")).toBe(cleaned(text.replaceAll("\n", "")));
  expect(JSON.parse(text)).toEqual(value);
});

function written(colour: boolean, write: (out: Output) => void): string {
  let text = "";
  const out = createOutput({
    isTerminal: colour,
    columns: 80,
    colour,
    write: (more) => {
      text += more;
    },
  });
  write(out);
  return text;
}
