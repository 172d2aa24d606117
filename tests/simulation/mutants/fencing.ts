/** Writes of a runner that take effect although another holds the run, and claims that pass for each other. */
import type { Mutant } from "./mutant.ts";

const change = "store/apply/apply-change.ts";
const commit = "store/apply/apply-commit.ts";
const leases = "store/apply/apply-lease.ts";

const tokenTest = 'if (run === undefined || run.row.token !== lease.token) return { kind: "superseded" };';
const refusal = 'if (fenced.kind !== "passed") return fenced;';
const renewalTest =
  'if (row === undefined || !isHeld(row, lease) || row.lastCommit < applied)\n    return { move: null, answer: { kind: "lost" } };';
const renewalMove = "move: { ...extended(row, until), begun: isUpToDate ? begun : row.begun },";
const claimMove = "move: { ...leased(row, { owner, token, until }, now), crashCount },";

/** What a commit that was refused does to the run all the same. */
function refusedBut(does: string): string {
  return `if (fenced.kind !== "passed") {
    const run = set.runs.get(runKey(request.lease.runId));
    const { boundary } = request;
    if (run !== undefined && run.row.token !== request.lease.token) {
      run.change({});
      ${does}
    }
    return fenced;
  }`;
}

export const fencing: readonly Mutant[] = [
  {
    name: "a commit is not asked for its token",
    guards: ["INV-2"],
    file: commit,
    find: tokenTest,
    replace: 'if (run === undefined) return { kind: "superseded" };',
  },
  {
    name: "a refused commit writes its completed steps all the same",
    guards: ["INV-2", "INV-12"],
    file: commit,
    find: refusal,
    replace: refusedBut(
      'for (const step of boundary.steps) if (step.status === "completed") run.putStep(step);',
    ),
  },
  {
    name: "a refused commit writes its failed steps all the same",
    guards: ["INV-2", "INV-12"],
    file: commit,
    find: refusal,
    replace: refusedBut(
      'for (const step of boundary.steps) if (step.status !== "completed") run.putStep(step);',
    ),
  },
  {
    name: "a refused commit writes its log lines all the same",
    guards: ["INV-2", "INV-12"],
    file: commit,
    find: refusal,
    replace: refusedBut("run.addLogs(boundary.logs);"),
  },
  {
    name: "a refused commit takes its events all the same",
    guards: ["INV-2", "INV-22"],
    file: commit,
    find: refusal,
    replace: refusedBut(
      "for (const { seq, stepKey } of boundary.consumed) if (run.undelivered.has(seq)) run.consume(seq, stepKey, now);",
    ),
  },
  {
    name: "a refused commit puts its author's rows there all the same",
    guards: ["INV-11"],
    file: "stores/memory/memory-store.ts",
    find: 'if (passFence(set, request).kind !== "passed") return undefined;',
    replace: `const fence = passFence(set, request).kind;
  if (fence === "superseded") runMutations(database.authorRows, request.mutations);
  if (fence !== "passed") return undefined;`,
  },
  {
    name: "a refused commit sends what goes alongside all the same",
    guards: ["INV-11"],
    file: commit,
    find: refusal,
    replace: refusedBut("sendAlongside(set, run, request, now);"),
  },
  {
    name: "a refused commit ends the run all the same",
    guards: ["INV-2", "INV-33"],
    file: commit,
    find: refusal,
    replace: refusedBut("if (isEnding(boundary.next) && !run.hasEnded) run.end(boundary.next, now);"),
  },
  {
    name: "a refused commit reschedules the run all the same",
    guards: ["INV-2"],
    file: commit,
    find: refusal,
    replace: refusedBut(
      'if (boundary.next.kind === "suspend" && !run.isLeased && !run.hasEnded) run.giveBack(boundary.next.task, boundary.next.dueAt);',
    ),
  },
  {
    name: "a commit is asked for its owner instead of its token",
    guards: ["INV-3"],
    file: commit,
    find: tokenTest,
    replace: 'if (run === undefined || run.row.owner !== lease.owner) return { kind: "superseded" };',
  },
  {
    name: "a commit may come after the lease was given back",
    guards: ["INV-2", "INV-4"],
    file: commit,
    find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
    replace: "return !run.hasEnded && isCurrent && isNext",
  },
  {
    name: "a commit may come after the run has ended",
    guards: ["INV-33"],
    edits: [
      {
        file: commit,
        find: 'if (run === undefined || run.row.token !== lease.token) return { kind: "superseded" };',
        replace: 'if (run === undefined) return { kind: "superseded" };',
      },
      {
        file: commit,
        find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
        replace: "return run.isLeased || run.hasEnded",
      },
    ],
  },
  {
    name: "a renewal is not asked for its token",
    guards: ["INV-2", "INV-4"],
    file: leases,
    find: renewalTest,
    replace: 'if (row === undefined || !isLeased(row.lane)) return { move: null, answer: { kind: "lost" } };',
  },
  {
    name: "a renewal is asked for its owner instead of its token",
    guards: ["INV-3", "INV-4"],
    file: leases,
    find: renewalTest,
    replace: `if (row === undefined || !isLeased(row.lane) || row.owner !== lease.owner)
    return { move: null, answer: { kind: "lost" } };`,
  },
  {
    name: "a renewal revives a lease that was given back",
    guards: ["INV-4"],
    edits: [
      {
        file: leases,
        find: renewalTest,
        replace: `if (row === undefined || row.token !== lease.token || row.lane === null || row.lane === 3)
    return { move: null, answer: { kind: "lost" } };`,
      },
      {
        file: leases,
        find: renewalMove,
        replace: "move: { ...extended(row, until), begun: isUpToDate ? begun : row.begun, lane: 2 },",
      },
    ],
  },
  {
    name: "a renewal takes a run that another holds",
    guards: ["INV-1", "INV-4"],
    edits: [
      {
        file: leases,
        find: renewalTest,
        replace:
          'if (row === undefined || row.lane === null || row.lane === 3) return { move: null, answer: { kind: "lost" } };',
      },
      {
        file: leases,
        find: renewalMove,
        replace: "move: { ...extended(row, until), begun, lane: 2, owner: lease.owner, token: lease.token },",
      },
    ],
  },
  {
    name: "a release is not asked for its token",
    guards: ["INV-2"],
    file: leases,
    find: "if (row === undefined || !isHeld(row, lease)) return null;",
    replace: "if (row === undefined || !isLeased(row.lane)) return null;",
  },
  {
    name: "a release is asked for its owner instead of its token",
    guards: ["INV-3"],
    file: leases,
    find: "if (row === undefined || !isHeld(row, lease)) return null;",
    replace: "if (row === undefined || !isLeased(row.lane) || row.owner !== lease.owner) return null;",
  },
  {
    name: "a claim keeps the token of the one before",
    guards: ["INV-1"],
    file: leases,
    find: claimMove,
    replace: "move: { ...leased(row, { owner, token: Math.max(row.token, 1), until }, now), crashCount },",
  },
  {
    name: "a claim of a run that was given back keeps its token",
    guards: ["INV-1"],
    file: leases,
    find: claimMove,
    replace:
      "move: { ...leased(row, { owner, token: ranOut || row.token === 0 ? token : row.token, until }, now), crashCount },",
  },
  {
    name: "the token begins anew with every run",
    guards: ["INV-1"],
    file: change,
    find: "return addNextRun(set, run, { token, history }, now);",
    replace: "return addNextRun(set, run, { token: 0, history }, now);",
  },
];
