/** Values of every kind, as params, results, payloads, output and in errors. */
import { defineWorkflow } from "everstep";
import { handleOf, type Story } from "../story.ts";

function everyKind(): Record<string, unknown> {
  return {
    undefined: undefined,
    null: null,
    numbers: [
      0,
      -0,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.MAX_SAFE_INTEGER,
    ],
    bigints: [0n, -1n, 2n ** 70n],
    text: "ü 漢 🚀 \u0000 </script>",
    dates: [new Date(0), new Date(Number.NaN)],
    map: new Map<unknown, unknown>([
      [{ key: 1 }, new Set([undefined, new Map()])],
      [2n, ["two"]],
    ]),
    pattern: /a+b/giu,
    url: new URL("https://example.com/a?b=c"),
    bytes: [
      new Uint8Array([0, 255]),
      new Float64Array([0.1]),
      new ArrayBuffer(2),
      new DataView(new ArrayBuffer(1)),
    ],
    boxed: [Object(1), Object("a")],
    errors: [
      new TypeError("wrong", { cause: new Error("why") }),
      new AggregateError([new RangeError("one")], "many"),
      Object.assign(new Error("with facts"), { status: 500, at: new Date(1) }),
    ],
    deep: { a: [{ b: { c: [[[1n]]] } }] },
    "key with . and [0]": { __proto__: null, constructor: "not a class" },
  };
}

const values = defineWorkflow({ name: "golden-values" }, async ({ payload }, step) => {
  const results: Record<string, unknown> = {};
  for (const key of Object.keys(payload)) results[key] = await step.do(key, async () => payload[key]);
  const { payload: sent } = await step.waitForEvent("sent", { type: "sent" });
  const thrown = await step
    .do("thrown", { retries: false }, async () => {
      throw Object.assign(new RangeError("rich"), { map: new Map([[1, 2n]]), nothing: undefined });
    })
    .catch((error: Error) => error);
  return { results, sent, thrown };
});

const throwing = defineWorkflow({ name: "golden-throws" }, async (_event, step) => {
  await step.do("fine", async () => 1);
  throw Object.assign(new TypeError("from the function itself"), { facts: { when: new Date(0) } });
});

export const valueStories: readonly Story[] = [
  {
    name: "values",
    workflows: { W: values },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "values", params: everyKind() });
      await harness.runUntilIdle();
      await keep("waiting", instance);
      await instance.sendEvent({ type: "sent", idempotencyKey: "event-1", payload: everyKind() });
      await harness.runUntilIdle();
      await keep("complete", instance);
    },
  },
  {
    name: "throws",
    workflows: { W: throwing },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "throws" });
      await harness.runUntilIdle();
      await keep("errored", instance);
    },
  },
];
