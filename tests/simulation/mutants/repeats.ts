/** Requests that are made again after a lost reply, and have another effect or answer than the first time. */
import type { Mutant } from "./mutant.ts";

const commit = "store/apply/apply-commit.ts";
const events = "store/apply/apply-events.ts";

export const repeats: readonly Mutant[] = [
  {
    name: "a repeated commit is applied again",
    guards: ["INV-42"],
    edits: [
      {
        file: commit,
        find: "if (boundary.number === lastCommit) return repeated(run, boundary);",
        replace: "",
      },
      {
        file: commit,
        find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
        replace: "return run.isLeased && !run.hasEnded && isCurrent",
      },
    ],
  },
  {
    name: "a repeated commit is taken for a foreign one",
    guards: ["INV-42"],
    file: commit,
    find: "if (boundary.number === lastCommit) return repeated(run, boundary);",
    replace: 'if (boundary.number === lastCommit) return { kind: "superseded" };',
  },
  {
    name: "a repeated commit that gave the lease back is refused",
    guards: ["INV-42"],
    file: commit,
    find: "if (boundary.number === lastCommit) return repeated(run, boundary);",
    replace: "if (run.isLeased && boundary.number === lastCommit) return repeated(run, boundary);",
  },
  {
    name: "< for <= where a repeated commit is told",
    guards: ["INV-42"],
    file: commit,
    find: "if (boundary.number === lastCommit)",
    replace: "if (boundary.number < lastCommit)",
  },
  {
    name: "a repeated commit does not say that the run is paused",
    guards: ["INV-34", "INV-42"],
    file: commit,
    find: 'if (status === "paused") return { kind: "paused", eventSeq, timeoutsRefused };',
    replace: "",
  },
  {
    name: "a repeated end that a pause dropped is taken for an end",
    guards: ["INV-35", "INV-42"],
    edits: [
      {
        file: commit,
        find: 'if (status === "paused") return { kind: "paused", eventSeq, timeoutsRefused };',
        replace: "",
      },
      {
        file: commit,
        find: 'if (isEnding(next) && !run.hasEnded) return { kind: "superseded" };',
        replace: "",
      },
    ],
  },
  {
    name: "commits are counted on from the claim before",
    guards: ["INV-42"],
    file: "store/apply/moves.ts",
    find: `    lastCommit: 0,
    waitingSince: null,
    startedAt`,
    replace: `    waitingSince: null,
    startedAt`,
  },
  {
    name: "a turn that goes on in memory counts its commits on",
    guards: ["INV-42"],
    file: "engine/turn-commits.ts",
    find: "    this.#number = this.#parts.run.claim.confirmed ? 1 : 0;\n    this.#appliedNumber = this.#number;\n    this.#hasProgressed = false;",
    replace:
      "    if (this.#number === 0) this.#number = this.#parts.run.claim.confirmed ? 1 : 0;\n    this.#appliedNumber = this.#number;\n    this.#hasProgressed = false;",
  },
  {
    name: "a change is made again when it is repeated",
    guards: ["INV-42"],
    file: "store/apply/apply-change.ts",
    find: "set.newChanges.push({ instance, id: request.id, outcome });",
    replace: "void instance;",
  },
  {
    name: "an event is accepted again when it is repeated",
    guards: ["INV-25"],
    file: events,
    find: "const earlier = set.eventIds.get(key);",
    replace: "const earlier = undefined as number | undefined;",
  },
  {
    name: "a repeated event is refused when its run has ended",
    guards: ["INV-25"],
    file: events,
    find: "  const earlier = set.eventIds.get(key);",
    replace: `  if (run.hasEnded) return { kind: "terminal", status };
  const earlier = set.eventIds.get(key);`,
  },
  {
    name: "a publication is made again when it is repeated",
    guards: ["INV-25", "INV-42"],
    edits: [
      {
        file: events,
        find: "const earlier = set.publications.get(publication);",
        replace: "const earlier = undefined as Publication | undefined;",
      },
      { file: events, find: "if (set.hasEventId(run.row.instance, { topic, id })) continue;", replace: "" },
    ],
  },
  {
    name: "creating again replaces the instance",
    guards: ["INV-36"],
    file: "store/apply/apply-create.ts",
    find: "if (existing !== undefined) return",
    replace: "if (existing !== undefined && existing.runNumber > 1) return",
  },
  {
    name: "whoever created an instance is told that it was there",
    guards: ["INV-36", "INV-42"],
    file: "client/submit-creation.ts",
    find: "createdAt === request.createdAt &&",
    replace: "createdAt > request.createdAt &&",
  },
  {
    name: "a creation whose answer was lost gives back whatever lease is in force",
    guards: ["INV-1", "INV-2"],
    seeds: 10_000,
    file: "client/submit-creation.ts",
    find: "runner.giveBack(found.runId, request.lease)",
    replace: "runner.giveBack(found.runId, { ...request.lease, token: found.token })",
  },
  {
    name: "whoever creates an id that is taken is told that it is new",
    guards: ["INV-36"],
    file: "client/submit-creation.ts",
    find: "createdAt === request.createdAt &&",
    replace: "createdAt >= 0 &&",
  },
  {
    name: "nobody asks whether a lost reply was to a creation",
    guards: ["INV-36", "INV-42"],
    file: "runner/write-lane.ts",
    find: "for (const entry of group) entry.uncertain = true;",
    replace: "",
  },
  {
    name: "an unknown outcome is taken for a failure",
    guards: ["INV-42"],
    file: "runner/store-patience.ts",
    find: "return error instanceof StoreError && error.retryable;",
    replace: 'return error instanceof StoreError && error.retryable && error.failure !== "ambiguous";',
  },
  {
    name: "a commit whose outcome is unknown is taken for one that stands",
    guards: ["INV-42", "INV-8"],
    file: "runner/write-lane.ts",
    find: "for (const entry of group) entry.uncertain = true;",
    replace: `for (const entry of group) entry.uncertain = true;
        if (group.every(({ request }) => request.kind === "commit")) {
          for (const entry of group)
            this.#settle(entry, { kind: "committed", eventSeq: 0, timeoutsRefused: false, dueNow: false });
          return null;
        }`,
  },
  {
    name: "a commit whose outcome is unknown is sent again under a new number",
    guards: ["INV-42"],
    file: "runner/write-lane.ts",
    find: "for (const entry of group) entry.uncertain = true;",
    replace: `for (const entry of group) {
          entry.uncertain = true;
          const { request } = entry;
          if (request.kind === "commit") (request.boundary as { number: number }).number++;
        }`,
  },
  {
    name: "a contended write is forgotten",
    guards: ["INV-49", "LIV-1"],
    file: "runner/write-lane.ts",
    find: "this.#tryLater(group, failure);\n      return null;",
    replace: "return null;",
  },
];
