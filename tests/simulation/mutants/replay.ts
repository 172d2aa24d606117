/** Replays that see something else than the first passage did, and turns that lose track of what they owe. */
import type { Mutant } from "./mutant.ts";

const handOver = "engine/hand-over.ts";
const results = "engine/step-results.ts";
const calls = "engine/step-calls.ts";

export const replay: readonly Mutant[] = [
  {
    name: "replayed steps settle in the order they are asked for",
    guards: ["INV-17"],
    file: handOver,
    find: "if (first === null || settledIndexOf(call) < settledIndexOf(first)) first = call;",
    replace: "if (first === null) first = call;",
  },
  {
    name: "the order of hand-over begins anew with every turn",
    guards: ["INV-17"],
    file: "engine/turn-records.ts",
    find: "this.handOver = new HandOver(this.draft, this.durability, this.register.settledCount);",
    replace: "this.handOver = new HandOver(this.draft, this.durability, 0);",
  },
  {
    name: "several settlements are handed over at once",
    guards: ["INV-17"],
    file: results,
    find: "if (!this.#parts.schedule.isDrained) return false;\n    const next",
    replace: "const next",
  },
  {
    name: "a body's own object is handed over on the first passage",
    guards: ["INV-16"],
    edits: [
      {
        file: "engine/attempt-outcome.ts",
        find: '    return { kind: "returned", result };',
        replace: '    liveValues.set(result, outcome.value);\n    return { kind: "returned", result };',
      },
      {
        file: "engine/attempt-outcome.ts",
        find: "function failure(",
        replace: "export const liveValues = new WeakMap<object, unknown>();\n\nfunction failure(",
      },
      {
        file: results,
        find: 'if (record.status === "completed") call.resolve(decodeValue(record.result));',
        replace:
          'if (record.status === "completed")\n      call.resolve(liveValues.has(record.result) ? liveValues.get(record.result) : decodeValue(record.result));',
      },
      {
        file: results,
        find: 'import type { Call } from "./call.ts";',
        replace: 'import { liveValues } from "./attempt-outcome.ts";\nimport type { Call } from "./call.ts";',
      },
    ],
  },
  {
    name: "the time an instance was created is the time of its passage",
    guards: ["INV-18"],
    file: calls,
    find: "timestamp: new Date(claim.createdAt),",
    replace: "timestamp: new Date(this.now()),",
  },
  {
    name: "steps get their index by the order of a passage",
    guards: ["INV-7", "INV-15"],
    file: "engine/call-register.ts",
    find: "this.#nextIndex = Math.max(this.#nextIndex, step.index + 1);",
    replace: "this.#nextIndex++;",
  },
  {
    name: "a replayed step begins its body again",
    guards: ["INV-8", "INV-19"],
    file: calls,
    find: 'if (record && record.status !== "waiting" && record.type === call.type) records.handOver.owe(call);',
    replace:
      'if (record && record.status === "completed" && record.type === call.type) records.handOver.owe(call);\n    else if (record && record.status === "errored") {\n      (call as { record: unknown }).record = undefined;\n      steps.ask(call);\n    }',
  },
  {
    name: "a turn that yields forgets what has finished",
    guards: ["INV-9"],
    file: "engine/turn-pump.ts",
    find: "const uncommitted = records.handOver.placeAll();",
    replace: "const uncommitted = false;",
  },
  {
    name: "a turn that ends gives its bodies a record",
    guards: ["INV-20"],
    file: "engine/turn-life.ts",
    find: "if (inFlight.hasOpenEnds) inFlight.cancelAll(reason());",
    replace: "void reason;",
  },
];
