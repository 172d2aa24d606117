import { expect, test } from "vitest";
import { escapeText, unescapeText } from "./text-escape.ts";

const nul = String.fromCharCode(0);
const opening = String.fromCharCode(1);

test.each([
  ["", "plain", "ä 😀 漢字", "tab\tline\n", "\u{10FFFF}", "\uFEFFa"],
  [nul, `a${nul}b`, opening, `${opening}0000`, `${opening}${opening}`, `${opening}${nul}`],
  ["\ud800", "a\udc00b", "\udc00\ud800", `😀\ud83d${nul}`],
])("what is escaped comes back as it was", (...texts) => {
  for (const text of texts) {
    const kept = escapeText(text);
    expect(kept.includes(nul)).toBe(false);
    expect(Buffer.from(kept).toString()).toBe(kept);
    expect(unescapeText(kept)).toBe(text);
  }
});

test("different texts stay different", () => {
  const texts = [nul, opening, `${opening}0000`, `${opening}0001`, "0000", "\ud800", `${opening}d800`];
  expect(new Set(texts.map(escapeText)).size).toBe(texts.length);
});

test("ordinary text is not touched", () => {
  const text = "line\nbreak 😀";
  expect(escapeText(text)).toBe(text);
});
