/** Mistakes of the engine that no simulated world can show. */
import type { Unseen } from "./mutant.ts";

export const unseenInEngine: readonly Unseen[] = [
  {
    name: "a store call that failed is repeated without jitter",
    guards: ["INV-50"],
    file: "engine/backoff.ts",
    find: "return grown * (storeRetry.jitterMin + random() * (storeRetry.jitterMax - storeRetry.jitterMin));",
    replace: "void random;\n  return grown * storeRetry.jitterMax;",
    because:
      "Only a crowd of processes that act at the same moment is harmed, and in a world every moment is another.",
    noticedBy: "engine/backoff.test.ts",
  },
  {
    name: "a run that keeps crashing is tried again without jitter",
    guards: ["INV-50"],
    file: "engine/backoff.ts",
    find: "const jitter = crashBackoff.jitterMsMin + Math.round((random() * jitterSpan) / 1000) * 1000;",
    replace: "void random;\n    const jitter = crashBackoff.jitterMsMin + jitterSpan;",
    because: "The delay is within its bounds; only a crowd would notice that all have the same.",
    noticedBy: "engine/backoff.test.ts",
  },
  {
    name: "a step inside another is handed over before it is durable",
    guards: ["INV-8"],
    file: "engine/hand-over.ts",
    find: "if (first === undefined || first.gate > this.durable) return null;",
    replace: "if (first === undefined) return null;",
    because:
      "Only effects of the outer body between two inner steps would show it, and those of a world have none.",
    noticedBy: "engine/hand-over.test.ts",
  },
  {
    name: "a run ends without what has finished",
    guards: ["INV-9"],
    file: "engine/turn.ts",
    find: "    this.#handOver.placeFinished();\n",
    replace: "",
    because: "Two bodies must be over in the same moment, one of them the last that the function waits for.",
    noticedBy: "engine/turn.test.ts",
  },
  {
    name: "a skipped sleep leaves its event behind",
    guards: ["INV-11"],
    file: "engine/open-steps.ts",
    find: "return this.#completeWait(call, nothing, decision.skippedBy, now);",
    replace: "return this.#completeWait(call, nothing, null, now);",
    because: "Nobody waits for the event any more, and it counts for nothing.",
    noticedBy: "engine/turn-events.test.ts",
  },
  {
    name: "an attempt that timed out still counts when it returns",
    guards: ["INV-12"],
    file: "engine/body.ts",
    find: "    if (this.isVoid) return;\n    this.cancel(error);\n    this.#done?.({ ok: false, error });",
    replace:
      "    if (this.isVoid) return;\n    this.#abortWith(error);\n    this.#done?.({ ok: false, error });",
    because: "Its result is refused a second time; only steps that it asks for inside would show it.",
    noticedBy: "engine/turn-nesting.test.ts",
  },
  {
    name: "starts that were cut off are forgotten by the next turn's first commit",
    guards: ["INV-9"],
    file: "engine/open-steps.ts",
    find: "if (this.#notTakenUp.length === 0) return begun;",
    replace: "if (this.#notTakenUp.length >= 0) return begun;",
    because: "It takes a branch that waits for something outside of steps before it comes to the step again.",
    noticedBy: "engine/turn-cut-off.test.ts",
  },
  {
    name: "new steps are decided while recorded ones are owed",
    guards: ["INV-17"],
    file: "engine/turn.ts",
    find: "if (!this.#handOver.owes) this.#steps.decideAll();",
    replace: "this.#steps.decideAll();",
    because:
      "Hand-over keeps the recorded order by itself; at most a body begins whose result nobody waits for.",
    noticedBy: null,
  },
  {
    name: "new settlements are handed over before recorded ones",
    guards: ["INV-17"],
    edits: [
      {
        file: "engine/hand-over.ts",
        find: "return this.#ready.length === 1 && !this.owes;",
        replace: "return this.#ready.length === 1;",
      },
      {
        file: "engine/hand-over.ts",
        find: "const owed = takeFirst(this.#owed);",
        replace: "const owed = this.#ready.length > 0 ? null : takeFirst(this.#owed);",
      },
    ],
    because: "Nothing new is decided while recorded ones are owed, so nothing new can be over.",
    noticedBy: "engine/hand-over.test.ts",
  },
  {
    name: "a turn is suspended while author code still has something to do",
    guards: ["INV-20"],
    file: "engine/turn.ts",
    find: "    } else if (!this.#idle) {",
    replace: "    } else if (!this.#idle && this.#commitNumber < 0) {",
    because: "What the code asks for then wakes the run again: it costs a turn, and nothing else.",
    noticedBy: "engine/turn-waits.test.ts",
  },
  {
    name: "a suspended turn begins a step that is asked for",
    guards: ["INV-20", "INV-6"],
    file: "engine/turn.ts",
    find: 'if (this.#state === "suspended") this.#host.wake(this);\n    else this.#schedulePump();\n    return call.promise;',
    replace:
      'if (this.#state === "suspended") this.#state = "open";\n    this.#schedulePump();\n    return call.promise;',
    because:
      "The lease was given back with the wait, so the turn finds that it holds none and begins nothing.",
    noticedBy: "engine/turn-waits.test.ts",
  },
  {
    name: "a retried step keeps what was recorded inside it",
    guards: ["INV-15"],
    file: "engine/retry-failed-step.ts",
    find: "drop: inside.map((other) => other.index),",
    replace: "drop: [],",
    because: "The next attempt goes on with what is recorded inside, as it would after a crash.",
    noticedBy: "engine/lifecycle.test.ts",
  },
  {
    name: "a read of events that failed is not repeated",
    guards: ["LIV-1"],
    file: "engine/inbox.ts",
    find: "read(this.#seq).then(fetched, () => fetched([]));",
    replace: "read(this.#seq).then(fetched, () => {});",
    because: "A timeout must be refused, and the read of the event that refused it fail.",
    noticedBy: "engine/inbox.test.ts",
  },
];
