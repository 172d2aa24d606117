/** Runners that go on with a lease they do not hold any more, or cannot hold on to one that they need. */
import type { Mutant } from "./mutant.ts";

const keeper = "runner/lease-keeper.ts";
const answers = "engine/commit-answers.ts";

export const leaseMutants: readonly Mutant[] = [
  {
    name: "a runner never notices by its own clock that a lease is over",
    guards: ["INV-6"],
    edits: [
      {
        file: keeper,
        find: "return held !== undefined && this.#runtime.monotonic() < held.heldUntil;",
        replace: "return held !== undefined;",
      },
    ],
  },
  {
    name: "a runner counts its lease from the answer, not from the question",
    guards: ["INV-6"],
    edits: [
      {
        file: keeper,
        find: "held.heldUntil = Math.max(held.heldUntil, since + this.#leaseMs);",
        replace: "held.heldUntil = this.#runtime.monotonic() + this.#leaseMs;\n    void since;",
      },
      {
        file: keeper,
        find: "heldUntil: since + this.#leaseMs,",
        replace: "heldUntil: this.#runtime.monotonic() + this.#leaseMs,",
      },
    ],
  },
  {
    name: "a renewal that was refused is taken for one",
    guards: ["INV-6"],
    file: keeper,
    find: 'if (answer?.kind !== "renewed") return this.#lose(held, "superseded");',
    replace:
      'if (answer?.kind !== "renewed") {\n      held.heldUntil = since + this.#leaseMs;\n      return;\n    }',
  },
  {
    name: "bodies are not told that their lease is lost",
    guards: ["INV-6", "INV-12"],
    file: "engine/in-flight.ts",
    find: "for (const body of this.#running) body.cancel(reason);\n    for (const body of this.#unrecorded)",
    replace: "for (const body of this.#unrecorded)",
  },
  {
    name: "leases are not renewed",
    guards: ["LIV-1"],
    file: keeper,
    find: "      void this.renew();",
    replace: "",
  },
  {
    name: "leases are known by their owner, not by their token",
    guards: ["INV-3"],
    file: keeper,
    find: "return held?.lease.token === lease.token ? held : undefined;",
    replace: "return held?.lease.owner === lease.owner ? held : undefined;",
  },
  {
    name: "the pump goes on without a lease",
    guards: ["INV-6"],
    edits: [
      {
        file: "engine/turn-pump.ts",
        find: 'if (!run.holdsLease()) return life.abandon(leaseLost("expired"));\n    if (results.nextInside())',
        replace: "if (results.nextInside())",
      },
      {
        file: answers,
        find: 'if (!run.holdsLease()) return life.abandon(leaseLost("expired"));\n    bodies.startReleased();',
        replace: "bodies.startReleased();",
      },
      {
        file: keeper,
        find: 'for (const held of [...this.#held.values()]) if (!this.holds(held.lease)) this.#lose(held, "expired");',
        replace: "",
      },
    ],
  },
  {
    name: "a superseded commit is taken for one that stands",
    guards: ["INV-6", "INV-12"],
    file: answers,
    find: 'if (outcome.kind === "superseded") return life.abandon(leaseLost("superseded"));',
    replace: "",
  },
  {
    name: "a run that comes back while it is here has two turns",
    guards: ["INV-13"],
    edits: [
      {
        file: "runner/turns.ts",
        find: 'this.#active.get(claim.lease.runId)?.abandon(leaseLost("superseded"));',
        replace: "",
      },
      {
        file: keeper,
        find: "return held?.lease.token === lease.token ? held : undefined;",
        replace: "return held;",
      },
    ],
  },
  {
    name: "a commit does not say which bodies it lets begin",
    guards: ["INV-9"],
    file: "engine/in-flight.ts",
    find: "for (const body of this.#gated) if (body.gate <= write) begun = added(begun, body.begun);",
    replace: "void write;",
  },
  {
    name: "a body that must not be repeated is",
    guards: ["INV-9"],
    file: "engine/bodies.ts",
    find: "if (mustNotRepeat && cutOff > recorded) {",
    replace: "if (mustNotRepeat && cutOff > recorded + 1000) {",
  },
  {
    name: "a body that must not be repeated begins before that is recorded",
    guards: ["INV-9"],
    file: "engine/bodies.ts",
    find: "if (mustNotRepeat) records.durability.write();",
    replace: "",
  },
  {
    name: "a runner that stops keeps its leases",
    guards: ["LIV-6"],
    file: "runner/runner.ts",
    find: "const givenBack = held.length > 0 && (await patience.wait(leases.release(held)));",
    replace: "const givenBack: boolean = held.length < 0;",
  },
  {
    name: "a runner that stops goes on",
    guards: ["LIV-6"],
    file: "runner/turns.ts",
    find: "for (const turn of turns) turn.windDown();\n    return",
    replace: "return",
  },
];
