import { expect, test } from "vitest";
import { EverstepError, StoreError } from "../model/error.ts";
import { afterPart } from "./after-part.ts";

test.each([
  ["a store's own failure", new StoreError("conflict", "STORE_BUSY", "Busy."), "STORE_BUSY"],
  [
    "a record that cannot be read",
    new EverstepError("HISTORY_UNREADABLE", "No number."),
    "HISTORY_UNREADABLE",
  ],
  ["a mistake in the store", new TypeError("x is undefined"), "STORE_FAILED"],
  ["anything else", "no", "STORE_FAILED"],
])("after a part was applied it is open what became of the whole: %s", (_what, error, code) => {
  const failure = afterPart(error);
  expect(failure).toMatchObject({ failure: "ambiguous", code, cause: error });
  expect(failure.message).toContain("applied before");
});

test("what is open already stays as it is", () => {
  const error = new StoreError("ambiguous", "STORE_UNAVAILABLE", "No answer.");
  expect(afterPart(error)).toBe(error);
});
