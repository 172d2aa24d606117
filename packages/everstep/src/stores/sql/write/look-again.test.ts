import { expect, test } from "vitest";
import { StoreError } from "../../../model/error.ts";
import { lookAgain, repeatedly } from "./look-again.ts";

/** Fails so often, then succeeds. */
function failing(times: number, error: Error): { act: () => Promise<string>; calls: () => number } {
  let calls = 0;
  return {
    calls: () => calls,
    act: async () => {
      calls += 1;
      if (calls <= times) throw error;
      return "done";
    },
  };
}

const taken = new StoreError("constraint", "STORE_FAILED", "A key is taken.");

test.each([
  ["something moved meanwhile", lookAgain()],
  ["a key was taken meanwhile", taken],
])("%s: it is done again", async (_name, error) => {
  const { act, calls } = failing(3, error);
  expect(await repeatedly(act)).toBe("done");
  expect(calls()).toBe(4);
});

test("not for ever: in the end the caller may try again", async () => {
  const { act, calls } = failing(100, taken);
  await expect(repeatedly(act)).rejects.toMatchObject({ failure: "conflict", code: "STORE_BUSY" });
  expect(calls()).toBeLessThan(10);
});

test.each([
  ["the store is out of reach", new StoreError("unavailable", "STORE_UNAVAILABLE", "x")],
  ["nobody knows whether it happened", new StoreError("ambiguous", "STORE_UNAVAILABLE", "x")],
  ["it has waited long enough", new StoreError("conflict", "STORE_BUSY", "x", { details: { waited: true } })],
  ["it is no failure of the store", new Error("author's own")],
])("%s: it is not done again", async (_name, error) => {
  const { act, calls } = failing(1, error);
  await expect(repeatedly(act)).rejects.toBe(error);
  expect(calls()).toBe(1);
});
