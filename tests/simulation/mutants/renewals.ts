/** Leases that are renewed too late, and crashes that are counted wrongly. */
import type { Mutant } from "./mutant.ts";

const keeper = "runner/lease-keeper.ts";
const commit = "store/apply/apply-commit.ts";

export const renewals: readonly Mutant[] = [
  {
    name: "leases are renewed only every 0.56 to 0.7 of their length",
    guards: ["LIV-1"],
    file: keeper,
    find: "return (this.#leaseMs / 3) * (0.8 + this.#runtime.float() * 0.2);",
    replace: "return this.#leaseMs * 0.7 * (0.8 + this.#runtime.float() * 0.2);",
  },
  {
    name: "a run is given up after two crashes, whatever the limit",
    guards: ["INV-14"],
    file: "runner/unfit.ts",
    find: "return crashCount >= maxCrashes && (",
    replace: "return crashCount >= Math.min(2, maxCrashes) && (",
  },
  {
    name: "leases get the same token again",
    guards: ["INV-1"],
    file: "model/lease.ts",
    find: 'return mixed(uuid.replaceAll("-", "")) + 1;',
    replace: 'return (mixed(uuid.replaceAll("-", "")) % 3) + 1;',
  },
  {
    name: "a commit is applied although the store has lost the one before it",
    guards: ["INV-8", "INV-42"],
    file: commit,
    find: "const isNext = numberBefore(boundary) === lastCommit;",
    replace: "const isNext = numberBefore(boundary) >= 0;",
  },
  {
    name: "the number of a commit that was refused is used again",
    guards: ["INV-42"],
    file: "engine/turn-commits.ts",
    find: "const number = ++this.#number;",
    replace: "const number = this.#appliedNumber + 1;\n    this.#number = number;",
  },
];
