import { afterEach, expect, test } from "vitest";
import { erased } from "../../testing/store-contract/acts.ts";
import { at, create, pause, ref, terminate } from "../../testing/store-contract/given.ts";
import { sqlite } from "./index.ts";

const store = sqlite(":memory:");
afterEach(() => store.close());

test("the id of a change belongs to its instance: the same id on another is another change", async () => {
  await store.write([create("a"), create("b")], at(0));
  const paused = pause("a");
  const terminated = { ...terminate("b"), id: paused.id };
  const outcomes = await store.write([paused, terminated], at(1));
  expect(outcomes).toMatchObject([
    { kind: "changed", status: "paused" },
    { kind: "changed", status: "terminated" },
  ]);
  expect(await store.write([terminated, paused], at(2))).toEqual([...outcomes].reverse());

  await erased(store, ref("a"));
  expect(await store.write([paused, terminated], at(3))).toEqual([{ kind: "not-found" }, outcomes[1]]);
});
