import { expect, test } from "vitest";
import { digestOf, etagOf } from "./etag.ts";

test("equal texts have equal tags, and texts that differ in a letter, a length or an order have others", () => {
  const texts = [
    "",
    "a",
    "b",
    "ab",
    "ba",
    "aa",
    "a".repeat(1000),
    `${"a".repeat(999)}b`,
    "\u0000",
    "é",
    "\ud83d\ude00",
  ];
  expect(new Set(texts.map(digestOf)).size).toBe(texts.length);
  for (const text of texts) expect(digestOf(text)).toBe(digestOf(`${text}`));
});

test("100,000 texts that differ by a number have 100,000 tags", () => {
  const tags = Array.from({ length: 100_000 }, (_, n) => digestOf(`{"status":"waiting","n":${n}}`));
  expect(new Set(tags).size).toBe(100_000);
});

test("a tag is a weak one, in quotes, of letters that any header takes", () => {
  expect(etagOf("{}")).toMatch(/^W\/"[0-9a-z-]+"$/);
});
