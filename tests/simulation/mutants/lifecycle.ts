/** What people decide: pause, resume, terminate, restart, fork, retry. */
import type { Mutant } from "./mutant.ts";

const change = "stores/memory/change.ts";
const commit = "stores/memory/commit.ts";
const run = "stores/memory/run.ts";

export const lifecycle: readonly Mutant[] = [
  {
    name: "a paused run is claimed",
    guards: ["INV-34"],
    file: run,
    find: 'return run.status !== "paused" && !isTerminal(run.status);',
    replace: "return !isTerminal(run.status);",
  },
  {
    name: "an event wakes a paused run",
    guards: ["INV-34", "INV-37"],
    edits: [
      {
        file: "stores/memory/events.ts",
        find: 'if (run.leased || run.status === "paused" || waitsOutCrash(run) || !isAwaited(event, run)) return false;',
        replace:
          'if (run.leased || !isAwaited(event, run)) return false;\n  if (run.status === "paused") run.status = "waiting";',
      },
    ],
  },
  {
    name: "a commit undoes a pause",
    guards: ["INV-34", "INV-35"],
    file: commit,
    find: 'if (run.status === "paused") {\n    stayPaused',
    replace: 'if (run.status === "paused" && boundary.next.kind === "continue") {\n    stayPaused',
  },
  {
    name: "a commit does not say that the run is paused",
    guards: ["INV-34"],
    file: commit,
    find: 'return { kind: "paused", eventSeq: run.eventSeq, timeoutsRefused };\n  }\n  const dueNow',
    replace:
      'return { kind: "committed", eventSeq: run.eventSeq, timeoutsRefused, dueNow: false };\n  }\n  const dueNow',
  },
  {
    name: "a turn goes on after it heard of a pause",
    guards: ["INV-34"],
    file: "engine/commit-answers.ts",
    find: 'if (outcome.kind === "paused") life.windDown();',
    replace: "",
  },
  {
    name: "a pause lets nobody finish",
    guards: ["INV-34", "INV-9"],
    file: change,
    find: '  run.status = "paused";\n  run.pausedAt = now;',
    replace: '  run.status = "paused";\n  run.leased = false;\n  run.pausedAt = now;',
  },
  {
    name: "a resume does not make the run due",
    guards: ["INV-23", "INV-37"],
    file: change,
    find: '    run.kind = "resume";\n    run.dueAt = now;',
    replace: '    run.kind = "resume";',
  },
  {
    name: "a resume takes a run from whoever holds it",
    guards: ["INV-1"],
    file: change,
    find: "if (!leaseInForce(run, now)) {",
    replace: "if (run.dueAt > 0) {",
  },
  {
    name: "a resume forgets that a lease ran out meanwhile",
    guards: ["INV-14"],
    file: change,
    find: '    run.kind = "resume";\n    run.dueAt = now;',
    replace: '    run.kind = "resume";\n    run.leased = false;\n    run.dueAt = now;',
  },
  {
    name: "terminating does not move the token",
    guards: ["INV-12", "INV-42"],
    file: change,
    find: '      run.token += 1;\n      end(database, run, { status: "terminated", reason: detached(made.reason) }, now);',
    replace: '      end(database, run, { status: "terminated", reason: detached(made.reason) }, now);',
  },
  {
    name: "terminating leaves the lease with its holder",
    guards: ["INV-33", "INV-37"],
    edits: [
      {
        file: change,
        find: '      run.token += 1;\n      end(database, run, { status: "terminated", reason: detached(made.reason) }, now);',
        replace:
          '      { const { leased } = run;\n      end(database, run, { status: "terminated", reason: detached(made.reason) }, now);\n      run.leased = leased; }',
      },
      {
        file: commit,
        find: "if (!run.leased || isTerminal(run.status) || run !== currentRun(run.instance))",
        replace: "if (!run.leased)",
      },
    ],
  },
  {
    name: "a run that has ended is terminated",
    guards: ["INV-33"],
    file: "engine/lifecycle.ts",
    find: "return planChange(ref, liveStatuses, {",
    replace: "return planChange(ref, instanceStatuses, {",
  },
  {
    name: "changes are made whatever they require",
    guards: ["INV-35"],
    file: change,
    find: "if (!statuses.includes(run.status) || runNumber !== run.number || token !== run.token) {",
    replace: "if (statuses.length === 0 && runNumber !== run.number && token !== run.token) {",
  },
  {
    name: "a restart is made whichever run it was meant for",
    guards: ["INV-35"],
    file: change,
    find: "if (!statuses.includes(run.status) || runNumber !== run.number || token !== run.token) {",
    replace: "if (!statuses.includes(run.status) || runNumber > run.number || token !== run.token) {",
  },
  {
    name: "a restart leaves the run before it claimable",
    guards: ["INV-38"],
    file: change,
    find: "if (!isTerminal(run.status)) {",
    replace: "if (run.leased && !isTerminal(run.status)) {",
  },
  {
    name: "a restart does not move the token of the run before it",
    guards: ["INV-42"],
    file: change,
    find: "    run.token = token;\n",
    replace: "",
  },
  {
    name: "a restart keeps the steps of the run before it",
    guards: ["INV-38"],
    file: change,
    find: "{ token, dueAt: now, history: made.history }",
    replace:
      '{ token, dueAt: now, history: [...run.steps.values()].filter((step) => step.status === "completed") }',
  },
  {
    name: "a restart from a step forgets what was before it",
    guards: ["INV-38"],
    file: change,
    find: "{ token, dueAt: now, history: made.history }",
    replace: "{ token, dueAt: now, history: [] }",
  },
  {
    name: "a restart brings the events of the run before it along",
    guards: ["INV-38"],
    file: change,
    find: "return addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);",
    replace: `const next = addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);
  for (const event of run.undelivered.values()) database.putEvent(next, { ...event, seq: ++next.eventSeq });
  return next;`,
  },
  {
    name: "a restart begins with crashes of the run before it",
    guards: ["INV-38"],
    file: change,
    find: "return addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);",
    replace: `const next = addRun(database, run.instance, { token, dueAt: now, history: made.history }, now);
  next.crashCount = run.crashCount + 1;
  return next;`,
  },
  {
    name: "retrying a failed step does not move the token",
    guards: ["INV-33"],
    file: change,
    find: '  run.status = "active";\n  run.token += 1;',
    replace: '  run.status = "active";',
  },
  {
    name: "an end forgets its time",
    guards: ["INV-37"],
    file: run,
    find: "  run.completedAt = now;\n",
    replace: "",
  },
  {
    name: "an instance that ends stays in the queue",
    guards: ["INV-33"],
    file: run,
    find: 'return run.status !== "paused" && !isTerminal(run.status);',
    replace: 'return run.status !== "paused" && run.status !== "errored" && run.status !== "terminated";',
  },
];
