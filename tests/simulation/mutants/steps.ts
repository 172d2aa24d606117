/** Attempts, retries, timeouts and waits that a turn decides wrongly. */
import type { Mutant } from "./mutant.ts";

const decide = "engine/decide.ts";
const settle = "engine/settle.ts";
const openSteps = "engine/open-steps.ts";

export const steps: readonly Mutant[] = [
  {
    name: "a store keeps of a result only what JSON can say",
    guards: ["INV-16", "INV-45"],
    file: "stores/memory/database.ts",
    find: "const step = detached(given);",
    replace:
      'const step = detached(\n      given.status === "completed" ? { ...given, result: { ...given.result, marks: null } } : given,\n    );',
  },
  {
    name: "a step is tried once more than it may",
    guards: ["INV-10"],
    edits: [
      {
        file: settle,
        find: "(before.maxAttempts === null || attempts < before.maxAttempts)",
        replace: "(before.maxAttempts === null || attempts <= before.maxAttempts)",
      },
      {
        file: "engine/attempt-outcome.ts",
        find: "(options.maxAttempts !== null && failed >= options.maxAttempts)",
        replace: "(options.maxAttempts !== null && failed > options.maxAttempts)",
      },
      {
        file: decide,
        find: "known.attempts >= known.maxAttempts",
        replace: "known.attempts > known.maxAttempts",
      },
    ],
  },
  {
    name: "a step is given up one attempt early",
    guards: ["INV-10"],
    file: settle,
    find: "attempts < before.maxAttempts)",
    replace: "attempts + 1 < before.maxAttempts)",
  },
  {
    name: "a step with no hope is tried again",
    guards: ["INV-10"],
    file: "engine/attempt-outcome.ts",
    find: "if (isFinal(thrown) || (options",
    replace: "if ((options",
  },
  {
    name: "starts that were cut off count as attempts",
    guards: ["INV-10"],
    file: settle,
    find: "const attempts = before.attempts + 1;",
    replace: "const attempts = before.starts;",
  },
  {
    name: "a body that is cut off by a shutdown counts as a failed attempt",
    guards: ["INV-10"],
    edits: [
      {
        file: "runner/runner.ts",
        find: "const held = [...cutOff.map((turn) => turn.claim.lease), ...leases.lost.leases];",
        replace:
          "for (const turn of cutOff) turn.failAll();\n    await withTimeout(setup.runtime, 1000, turns.allEnded());\n    const held = [...cutOff.map((turn) => turn.claim.lease), ...leases.lost.leases];",
      },
      {
        file: "engine/turn.ts",
        find: "  /** Stops at once: bodies are told, their results are void. */",
        replace:
          '  failAll(): void {\n    this.#parts.inFlight.failAll(new Error("The runner is shutting down."));\n  }\n',
      },
      {
        file: "engine/in-flight.ts",
        find: "  cancelAll(reason: Error): void {",
        replace:
          "  failAll(reason: Error): void {\n    for (const body of [...this.#running]) body.fail(reason);\n  }\n\n  cancelAll(reason: Error): void {",
      },
    ],
  },
  {
    name: "attempts are not counted",
    guards: ["INV-10"],
    file: settle,
    find: "const attempts = before.attempts + 1;",
    replace: "const attempts = 1;",
  },
  {
    name: "a step is tried again before its time",
    guards: ["INV-28"],
    file: decide,
    find: 'return known.wakeAt > now ? { kind: "wait", until: known.wakeAt } : { kind: "attempt" };',
    replace:
      'return known.wakeAt > now + 1000 ? { kind: "wait", until: known.wakeAt } : { kind: "attempt" };',
  },
  {
    name: "a sleep ends before its time",
    guards: ["INV-28"],
    file: decide,
    find: 'if (until <= now) return { kind: "wake", skippedBy: null };',
    replace: 'if (until <= now + 5) return { kind: "wake", skippedBy: null };',
  },
  {
    name: "a wait times out before its time",
    guards: ["INV-28"],
    file: decide,
    find: "return known && until <= now ?",
    replace: "return known && until <= now + 1000 ?",
  },
  {
    name: "a sleep begins again with every replay",
    guards: ["INV-29"],
    edits: [
      {
        file: decide,
        find: 'const until = known?.wakeAt ?? call.wakeAt ?? now;\n  if (until <= now) return { kind: "wake", skippedBy: null };',
        replace:
          'const until = call.wakeAt ?? known?.wakeAt ?? now;\n  if (until <= now) return { kind: "wake", skippedBy: null };',
      },
      {
        file: "engine/step-base.ts",
        find: "return call.record?.wakeAt ?? call.spec.wakeAt ?? Number.POSITIVE_INFINITY;",
        replace: "return call.spec.wakeAt ?? call.record?.wakeAt ?? Number.POSITIVE_INFINITY;",
      },
    ],
  },
  {
    name: "the time of a wait is written anew with every replay",
    guards: ["INV-29"],
    edits: [
      {
        file: decide,
        find: "const until = known?.wakeAt ?? call.wakeAt ?? now;\n  const event = eventFor(call, until, events);",
        replace:
          "const until = call.wakeAt ?? known?.wakeAt ?? now;\n  const event = eventFor(call, until, events);",
      },
      {
        file: openSteps,
        find: "if (call.record) return parked.park(call);",
        replace: "if (call.record?.wakeAt === until) return parked.park(call);",
      },
    ],
  },
  {
    name: "the latest of several waits decides when a run is due",
    guards: ["INV-31"],
    file: "engine/step-base.ts",
    find: "for (const call of calls) earliest = Math.min(earliest, wakeOf(call));",
    replace:
      "for (const call of calls) earliest = earliest === Number.POSITIVE_INFINITY ? wakeOf(call) : Math.max(earliest, wakeOf(call));",
  },
  {
    name: "a suspended run is due too late",
    guards: ["INV-31"],
    file: "store/apply/apply-commit.ts",
    find: "run.change(suspended(next.task, dueNow ? now : next.dueAt, now));",
    replace: "run.change(suspended(next.task, dueNow ? now : next.dueAt + 60_000, now));",
  },
  {
    name: "a turn held open by a body forgets its other waits",
    guards: ["INV-31", "LIV-1"],
    file: "engine/turn-timers.ts",
    find: "if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timerAt <= at)) return;",
    replace: "if (at > 0) return;",
  },
  {
    name: "an attempt may take as long as it likes",
    guards: ["INV-12"],
    file: "engine/body-timeouts.ts",
    find: "if (!Number.isFinite(timeoutMs)) return;",
    replace: "if (timeoutMs >= 0) return;",
  },
  {
    name: "a body begins before what it was given is durable",
    guards: ["INV-8", "INV-15"],
    file: "engine/bodies.ts",
    find: "if (durability.isComplete) this.#start(body);",
    replace: "if (durability.written >= 0) this.#start(body);",
  },
  {
    name: "a step inside another is not recorded",
    guards: ["INV-8"],
    file: "engine/hand-over.ts",
    find: "    else this.#draft.step(record);",
    replace: "    else if (call.parent === null) this.#draft.step(record);",
  },
  {
    name: "rows of a failed attempt are written",
    guards: ["INV-11"],
    file: "engine/hand-over.ts",
    find: 'if (record.status === "completed") return body.mutations;',
    replace: "if (body.mutations !== null) return body.mutations;",
  },
  {
    name: "what else was new is forgotten when rows are refused",
    guards: ["INV-11"],
    file: "engine/commit-answers.ts",
    find: `    records.draft.putBack(content, {
      index: call.index as number,
      alongside: body.alongside,
      event: failed.event?.seq ?? null,
    });`,
    replace: "    void content;",
  },
  {
    name: "a step whose rows were refused counts as completed",
    guards: ["INV-11"],
    file: "stores/memory/memory-store.ts",
    find: "if (refused !== undefined) return [refused];",
    replace: "",
  },
];
