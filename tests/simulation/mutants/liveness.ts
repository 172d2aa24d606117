/** Runners that stop looking, and clocks that are taken from the wrong place. */
import type { Mutant } from "./mutant.ts";

const dispatcher = "runner/poll-dispatcher.ts";

export const liveness: readonly Mutant[] = [
  {
    name: "nobody polls, only nudges and known times count",
    guards: ["LIV-1", "LIV-4"],
    file: dispatcher,
    find: "this.#rearm(Math.min(now + this.#pollMs, known, this.#heardDueAt));",
    replace: "this.#rearm(Math.min(known, this.#heardDueAt));",
  },
  {
    name: "a sweep that failed is the last one",
    guards: ["LIV-3"],
    file: dispatcher,
    find: "return this.#rearm(this.#runtime.now() + delayMs);",
    replace: "return void delayMs;",
  },
  {
    name: "a sweep that failed is repeated at once",
    guards: ["INV-50"],
    file: dispatcher,
    find: "return this.#rearm(this.#runtime.now() + delayMs);",
    replace: "void delayMs;\n      return this.#rearm(this.#runtime.now());",
  },
  {
    name: "a runner polls without a pause",
    guards: ["INV-50"],
    file: dispatcher,
    find: "this.#rearm(Math.min(now + this.#pollMs, known, this.#heardDueAt));",
    replace: "this.#rearm(now);",
  },
  {
    name: "a store that is out of reach is asked without a pause",
    guards: ["INV-50"],
    file: "runner/write-lane.ts",
    find: "await patience.pause(askAgainMs(outage, this.#outages++, runtime));",
    replace: "await patience.pause(askAgainMs(outage, this.#outages++, runtime) * 0);",
  },
  {
    name: "the process's clock counts, not the store's",
    guards: ["INV-44", "INV-1"],
    file: "runner/store-clock.ts",
    find: "if (reading === null) return this.#host.now();",
    replace: "if (reading === null || reading !== null) return this.#host.now();",
  },
  {
    name: "the time between two readings is taken from the wall clock",
    guards: ["INV-44"],
    edits: [
      {
        file: "runner/store-clock.ts",
        find: "return Math.floor(reading.time + this.#host.monotonic() - reading.at - reading.errorMs);",
        replace: "return Math.floor(reading.time + this.#host.now() - reading.wall);",
      },
    ],
  },
  {
    name: "the store's clock is not asked before the first claim",
    guards: ["INV-44"],
    file: "runner/store-clock.ts",
    find: "if (this.#reading === null || this.#jumped(this.#reading)) return this.#asking;",
    replace: "",
  },
  {
    name: "a place that was offered stays taken",
    guards: ["LIV-1", "INV-48"],
    file: "runner/capacity.ts",
    find: "if (--this.#offered === 0) this.#offersSettled?.();",
    replace: "if (this.#offered === 0) this.#offersSettled?.();",
  },
  {
    name: "a claim that failed keeps the places it was promised",
    guards: ["LIV-1", "LIV-3"],
    file: "runner/ticks.ts",
    find: "    } finally {\n      capacity.free(places);\n    }",
    replace: "    } finally {\n      if (places === 0) capacity.free(places);\n    }",
  },
  {
    name: "a turn that has ended keeps its place",
    guards: ["LIV-1"],
    file: "runner/turns.ts",
    find: "if (this.#active.get(lease.runId)?.claim.lease.token === lease.token) this.#active.delete(lease.runId);",
    replace: "",
  },
];
