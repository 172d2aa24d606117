/** Values that were written and then cannot be read, wherever they are handed to author code. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Story, stagesOn } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

// No value is known that is written and cannot be read, but there was one: so reading fails by itself here.
const parse = JSON.parse;
beforeEach(() => {
  vi.spyOn(JSON, "parse").mockImplementation((text) => {
    if (text.includes(damaged)) throw new SyntaxError("damaged");
    return parse(text);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const stageOf = stagesOn(createFakeRuntime);
const damaged = "cannot be read";

const handOvers: readonly [string, Story, string][] = [
  ["a result", (step) => step.do("a", async () => damaged), 'step "a"'],
  [
    "one result of several",
    (step) => Promise.all([step.do("a", async () => damaged), step.do("b", () => new Promise(() => {}))]),
    'step "a"',
  ],
  [
    "a result inside of a step",
    (step) => step.do("o", () => step.do("in", async () => damaged)),
    'step "in"',
  ],
  [
    "an error's own properties",
    (step) =>
      step.do("a", { retries: false }, async () => {
        throw Object.assign(new Error("no"), { note: damaged });
      }),
    'step "a"',
  ],
  [
    "a result that nobody awaits",
    async (step) => {
      void step.do("a", async () => damaged);
      await step.sleep("nap", "1 day");
    },
    'step "a"',
  ],
];

describe("what cannot be read when it is handed over", () => {
  test.each(handOvers)("ends the run at once, and says which step it was: %s", async (_, story, name) => {
    const stage = stageOf(story);
    await stage.play();
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({
      kind: "ended",
      next: { kind: "error", error: { code: "HISTORY_UNREADABLE", message: expect.stringContaining(name) } },
    });
  });

  test("a try around it does not keep the run alive", async () => {
    const stage = stageOf(async (step) => {
      await step.do("a", async () => damaged).catch(() => {});
      await step.do("b", async () => 1);
    });
    await stage.play();
    expect(stage.ending).toMatchObject({ next: { error: { code: "HISTORY_UNREADABLE" } } });
  });
});
