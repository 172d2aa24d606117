import { defineWorkflow } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

class Money {
  readonly amount: number;
  readonly currency: string;
  constructor(amount: number, currency: string) {
    this.amount = amount;
    this.currency = currency;
  }
  get text(): string {
    return `${this.amount} ${this.currency}`;
  }
}

/** Made anew for every start of a body. */
const values: Record<string, () => unknown> = {
  "a Date": () => new Date(1_750_000_000_123),
  "an invalid Date": () => new Date(Number.NaN),
  undefined: () => undefined,
  "undefined in a list": () => [undefined, 1, undefined],
  "undefined as a property": () => ({ there: undefined }),
  NaN: () => Number.NaN,
  "minus zero": () => -0,
  "minus zero, deep": () => ({ list: [-0, 0] }),
  Infinity: () => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  "a BigInt": () => 2n ** 70n,
  "a Map": () =>
    new Map<unknown, unknown>([
      ["a", new Date(1)],
      [{ key: 1 }, new Map()],
    ]),
  "a Set": () => new Set([1, "1", Number.NaN]),
  "a Buffer": () => Buffer.from([0, 1, 254, 255]),
  "a Uint8Array": () => new Uint8Array([1, 2, 3]),
  "a Float64Array": () => new Float64Array([0.1, -0, Number.NaN]),
  "an ArrayBuffer": () => new Uint8Array([9, 8, 7]).buffer,
  "a RegExp": () => /a+/giu,
  "a URL": () => new URL("https://example.com/a?b=c"),
  "an Error": () => new RangeError("too far", { cause: new TypeError("why") }),
  "a class instance": () => new Money(5, "EUR"),
  "a class instance, deep": () => ({ price: new Money(5, "EUR") }),
  "an object without prototype": () => Object.assign(Object.create(null), { a: 1 }),
  "a list with holes": () => Object.assign(new Array<number>(3), { 0: 1, 2: 3 }),
  "text with everything in it": () => "\0 \ud83e \u2028 ß 🎉 '\"\\",
  "a function": () => () => "no",
  "a symbol": () => Symbol("no"),
  "a promise inside": () => ({ later: Promise.resolve(1) }),
  "a WeakMap": () => new WeakMap(),
  "a circle": () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    return circle;
  },
};

onEachStore("rich values", (tell) => {
  describe("R-041 what a step returned is on the first pass what it is after a crash, or the step is refused", () => {
    test.each(Object.entries(values))("%s", async (_title, make) => {
      const passages: { step: unknown; event?: unknown }[] = [];
      let made: unknown;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const returned = await step.do("value", { retries: false }, async () => {
          made = make();
          return made;
        });
        const seen: { step: unknown; event?: unknown } = { step: returned };
        passages.push(seen);
        seen.event = (await step.waitForEvent("note", { type: "note" })).payload;
        await step.sleep("nap", "1 minute");
        return returned;
      });
      const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      const refused = await story.sendEvent("i", { type: "note", payload: make() }).then(
        () => null,
        ({ code }) => code,
      );
      if (refused !== null) {
        // The same verdict for a result as for a payload, before anything is written.
        expect(refused).toBe("VALUE_NOT_SERIALIZABLE");
        expect(await story.status("i")).toMatchObject({ status: "errored", error: { code: refused } });
        expect(passages).toEqual([]);
        return;
      }
      await story.restartRunner();
      await story.advance("1 minute");
      const { status, output } = await story.status("i");
      expect(status).toBe("complete");
      const [first, ...others] = passages;
      expect(others.length).toBeGreaterThanOrEqual(1);
      expect(first?.step === made && typeof made === "object" && made !== null).toBe(false);
      for (const each of others) expect(each.step).toStrictEqual(first?.step);
      expect(output).toStrictEqual(first?.step);
      for (const { event } of passages.filter((seen) => "event" in seen))
        expect(event).toStrictEqual(first?.step);
    });
  });
});
