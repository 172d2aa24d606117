/** Values that are small to send and large to keep, or deep enough to fall into, are refused before anything is written. */
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const mib = 1024 * 1024;

function nested(levels: number): unknown {
  let value: unknown = "core";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
}

/** Thirty lists that describe a billion. */
function laughs(): unknown {
  let value: unknown = ["ha"];
  for (let n = 0; n < 30; n++) value = [value, value];
  return value;
}

function manyKeys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, n]));
}

const bombs: Record<string, { readonly make: () => unknown; readonly code: RegExp }> = {
  "1001 levels": { make: () => nested(1001), code: /^VALUE_NOT_SERIALIZABLE$/ },
  "a hundred thousand levels": { make: () => nested(100_000), code: /^VALUE_NOT_SERIALIZABLE$/ },
  "two hundred thousand keys": { make: () => manyKeys(200_000), code: /^PAYLOAD_TOO_LARGE$/ },
  "a million lists": { make: () => Array.from({ length: 1_000_000 }, () => []), code: /^PAYLOAD_TOO_LARGE$/ },
  "a billion laughs": { make: laughs, code: /^(PAYLOAD_TOO_LARGE|VALUE_NOT_SERIALIZABLE)$/ },
  "a list of four billion holes": {
    make: () => new Array(2 ** 32 - 1),
    code: /^(PAYLOAD_TOO_LARGE|VALUE_NOT_SERIALIZABLE)$/,
  },
  "one long text, a thousand times": {
    make: () => new Array(1000).fill("x".repeat(mib)),
    code: /^(PAYLOAD_TOO_LARGE|VALUE_NOT_SERIALIZABLE)$/,
  },
  "text that grows when it is written": { make: () => "\0".repeat(mib / 2), code: /^PAYLOAD_TOO_LARGE$/ },
};

const keeper = defineWorkflow({ name: "keeper" }, async ({ payload }, step) => {
  const kept = await step.do("keep", async () => payload);
  await step.waitForEvent("sent", { type: "sent" });
  await step.sleep("nap", "1 minute");
  return kept;
});

// They are refused before a store hears of them.
describe("SEC-12 refused as params, event, publication, result and output, with nothing kept of it:", () => {
  test.each(Object.entries(bombs))("%s", async (_title, { make, code }) => {
    const bomb = make();
    const returning = defineWorkflow<string>({ name: "returning" }, async ({ payload }, step) =>
      payload === "output" ? bomb : step.do("result", { retries: false }, async () => bomb),
    );
    await using story = createTestHarness({ workflows: { KEEPER: keeper, RETURNING: returning } });
    const instance = await story.workflows.KEEPER.create({ id: "i" });
    const refused = { code: expect.stringMatching(code) };
    await expect(story.workflows.KEEPER.create({ id: "j", params: bomb })).rejects.toMatchObject(refused);
    await expect(instance.sendEvent({ type: "sent", payload: bomb })).rejects.toMatchObject(refused);
    await expect(story.app.publish("news", bomb)).rejects.toMatchObject(refused);
    for (const id of ["output", "result"]) {
      await story.workflows.RETURNING.create({ id, params: id });
      await story.runUntilIdle();
      expect(await story.status(id)).toMatchObject({ status: "errored", error: refused });
    }
    expect((await story.workflows.KEEPER.list()).items.map(({ id }) => id)).toEqual(["i"]);
    expect((await story.history("i")).events).toEqual([]);
  });
});

onEachStore("values within bounds", (tell) => {
  test.each([
    ["1000 levels", () => nested(1000)],
    ["thirty thousand keys", () => manyKeys(30_000)],
    ["a text of just a mebibyte", () => "x".repeat(mib - 2)],
  ])("SEC-12 are kept and come back: %s", async (_title, make) => {
    const story = tell({ KEEPER: keeper }, { runner: { maxResidents: 0 } });
    const value = make();
    await story.workflows.KEEPER.create({ id: "i", params: value });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "sent", payload: value });
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: value });
    const { steps, events } = await story.history("i");
    expect(steps[0]?.result).toEqual(value);
    expect(events[0]?.payload).toEqual(value);
  });
});
