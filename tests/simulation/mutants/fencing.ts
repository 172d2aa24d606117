/** Writes of a runner that take effect although another holds the run, and claims that pass for each other. */
import type { Mutant } from "./mutant.ts";

const commit = "stores/memory/commit.ts";
const leases = "stores/memory/leases.ts";
const run = "stores/memory/run.ts";

const tokenTest = 'if (run === undefined || run.token !== lease.token) return { kind: "superseded" };';

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
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    for (const step of boundary.steps) if (step.status === "completed") writeStep(database, run, step);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit writes its failed steps all the same",
    guards: ["INV-2", "INV-12"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    for (const step of boundary.steps) if (step.status !== "completed") writeStep(database, run, step);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit writes its log lines all the same",
    guards: ["INV-2", "INV-12"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    for (const line of boundary.logs) run.logs.push(detached({ ...line, seq: run.logs.length + 1 }));
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit takes its events all the same",
    guards: ["INV-2", "INV-22"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    for (const { seq, stepKey } of boundary.consumed) {
      const event = run.undelivered.get(seq);
      if (event !== undefined) database.putEvent(run, { ...event, deliveredAt: now, consumedBy: stepKey });
    }
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit puts its author's rows there all the same",
    guards: ["INV-11"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    if (request.mutations !== null) runMutations(database.authorRows, request.mutations);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit sends what goes alongside all the same",
    guards: ["INV-11"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    sendAlongside(database, run, request, now);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit ends the run all the same",
    guards: ["INV-2", "INV-33"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    if (isEnding(boundary.next) && !isTerminal(run.status)) end(database, run, detached(endingOf(boundary.next)), now);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a refused commit reschedules the run all the same",
    guards: ["INV-2"],
    file: commit,
    find: tokenTest,
    replace: `if (run === undefined) return { kind: "superseded" };
  if (run.token !== lease.token) {
    if (boundary.next.kind === "suspend" && !run.leased && !isTerminal(run.status))
      giveBack(database, run, boundary.next.task, boundary.next.dueAt);
    return { kind: "superseded" };
  }`,
  },
  {
    name: "a commit is asked for its owner instead of its token",
    guards: ["INV-3"],
    file: commit,
    find: tokenTest,
    replace: 'if (run === undefined || run.owner !== lease.owner) return { kind: "superseded" };',
  },
  {
    name: "a commit may come after the lease was given back",
    guards: ["INV-2", "INV-4"],
    file: commit,
    find: "if (!run.leased || isTerminal(run.status) || run !== currentRun(run.instance))",
    replace: "if (isTerminal(run.status) || run !== currentRun(run.instance))",
  },
  {
    name: "a commit may come after the run has ended",
    guards: ["INV-33"],
    edits: [
      {
        file: commit,
        find: tokenTest,
        replace: 'if (run === undefined) return { kind: "superseded" };',
      },
      {
        file: commit,
        find: "if (!run.leased || isTerminal(run.status) || run !== currentRun(run.instance))",
        replace: "if (!run.leased && !isTerminal(run.status))",
      },
      {
        file: commit,
        find: 'if (numberBefore(boundary) !== run.lastCommit) return { kind: "superseded" };',
        replace: "",
      },
    ],
  },
  {
    name: "a renewal is not asked for its token",
    guards: ["INV-2", "INV-4"],
    file: leases,
    find: 'const run = held(database, lease);\n  if (run === undefined || run.lastCommit < applied) return { kind: "lost" };',
    replace:
      'const run = database.runs.get(lease.runId);\n  if (run?.leased !== true) return { kind: "lost" };',
  },
  {
    name: "a renewal is asked for its owner instead of its token",
    guards: ["INV-3", "INV-4"],
    file: leases,
    find: 'const run = held(database, lease);\n  if (run === undefined || run.lastCommit < applied) return { kind: "lost" };',
    replace: `const run = database.runs.get(lease.runId);
  if (run?.leased !== true || run.owner !== lease.owner) return { kind: "lost" };`,
  },
  {
    name: "a renewal revives a lease that was given back",
    guards: ["INV-4"],
    file: leases,
    find: 'const run = held(database, lease);\n  if (run === undefined || run.lastCommit < applied) return { kind: "lost" };',
    replace: `const run = database.runs.get(lease.runId);
  if (run === undefined || run.token !== lease.token || !isSchedulable(run)) return { kind: "lost" };
  run.leased = true;`,
  },
  {
    name: "a renewal takes a run that another holds",
    guards: ["INV-1", "INV-4"],
    file: leases,
    find: 'const run = held(database, lease);\n  if (run === undefined || run.lastCommit < applied) return { kind: "lost" };',
    replace: `const run = database.runs.get(lease.runId);
  if (run === undefined || !isSchedulable(run)) return { kind: "lost" };
  run.leased = true;
  run.owner = lease.owner;
  run.token = lease.token;`,
  },
  {
    name: "a release is not asked for its token",
    guards: ["INV-2"],
    file: leases,
    find: "const run = held(database, lease);\n  if (run === undefined) return;",
    replace: "const run = database.runs.get(lease.runId);\n  if (run?.leased !== true) return;",
  },
  {
    name: "a release is asked for its owner instead of its token",
    guards: ["INV-3"],
    file: leases,
    find: "const run = held(database, lease);\n  if (run === undefined) return;",
    replace:
      "const run = database.runs.get(lease.runId);\n  if (run?.leased !== true || run.owner !== lease.owner) return;",
  },
  {
    name: "a claim keeps the token of the one before",
    guards: ["INV-1"],
    file: run,
    find: "  run.token = offer.token;\n",
    replace: "  run.token = Math.max(run.token, 1);\n",
  },
  {
    name: "a claim of a run that was given back keeps its token",
    guards: ["INV-1"],
    edits: [
      { file: run, find: '  run.kind = "resume";\n  run.leased = true;', replace: '  run.kind = "resume";' },
      {
        file: run,
        find: "  run.token = offer.token;\n",
        replace: "  if (run.leased || run.token === 0) run.token = offer.token;\n  run.leased = true;\n",
      },
    ],
  },
  {
    name: "the token begins anew with every run",
    guards: ["INV-1"],
    file: "stores/memory/change.ts",
    find: "return addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);",
    replace: "return addRun(database, run.instance, { token: 0, dueAt: now, history: made.history }, now);",
  },
];
