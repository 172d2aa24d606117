/** What people decide: pause, resume, terminate, restart, fork, retry. */
import type { Mutant } from "./mutant.ts";

const change = "store/apply/apply-change.ts";
const commit = "store/apply/apply-commit.ts";
const moves = "store/apply/moves.ts";
const workingRun = "store/apply/working-run.ts";

export const lifecycle: readonly Mutant[] = [
  {
    name: "a paused run is claimed",
    guards: ["INV-34"],
    file: moves,
    find: "lane: isLeased(lane) ? lanes.heldPaused : null",
    replace: "lane",
  },
  {
    name: "an event wakes a paused run",
    guards: ["INV-34", "INV-37"],
    file: workingRun,
    find: "if (!canBeWoken(this.row) || !this.isAwaited(given)) return false;",
    replace: `if (this.isLeased || !this.isAwaited(given)) return false;
    if (this.row.status === "paused") this.change({ status: "waiting" });`,
  },
  {
    name: "a commit undoes a pause",
    guards: ["INV-34", "INV-35"],
    file: commit,
    find: `if (run.row.status === "paused") {
    stayPaused`,
    replace: `if (run.row.status === "paused" && boundary.next.kind === "continue") {
    stayPaused`,
  },
  {
    name: "a commit does not say that the run is paused",
    guards: ["INV-34"],
    file: commit,
    find: 'return { kind: "paused", eventSeq: run.row.eventSeq, timeoutsRefused };',
    replace: 'return { kind: "committed", eventSeq: run.row.eventSeq, timeoutsRefused, dueNow: false };',
  },
  {
    name: "a turn goes on after it heard of a pause",
    guards: ["INV-34"],
    file: "engine/commit-answers.ts",
    find: 'if (outcome.kind === "paused") pause.paused();',
    replace: 'if (outcome.kind === "paused") pause.resumed();',
  },
  {
    name: "what was recorded during a pause is not handed over after it",
    guards: ["LIV-1", "INV-17"],
    seeds: 10_000,
    file: "engine/hand-over.ts",
    find: "return this.#ready.some((settlement) => this.#awaitsCommit(settlement));",
    replace: `this.#ready = this.#ready.filter((settlement) => this.#awaitsCommit(settlement));
    return this.#ready.length > 0;`,
  },
  {
    name: "a pause lets nobody finish",
    guards: ["INV-34", "INV-9"],
    file: moves,
    find: "lane: isLeased(lane) ? lanes.heldPaused : null",
    replace: "lane: null",
  },
  {
    name: "a resume does not make the run due",
    guards: ["INV-23", "INV-37"],
    file: moves,
    find: 'return { ...goesOn, kind: "resume", dueAt: now };',
    replace: 'return { ...goesOn, kind: "resume", dueAt: row.dueAt };',
  },
  {
    name: "a resume takes a run from whoever holds it",
    guards: ["INV-1"],
    file: moves,
    find: "if (isInForce(row, now)) return",
    replace: "if (row.dueAt < 0) return",
  },
  {
    name: "a resume forgets that a lease ran out meanwhile",
    guards: ["INV-14"],
    file: moves,
    find: 'return { ...goesOn, kind: "resume", dueAt: now };',
    replace: 'return { ...goesOn, lane: lanes.resuming, kind: "resume", dueAt: now };',
  },
  {
    name: "terminating does not move the token",
    guards: ["INV-12", "INV-42"],
    file: change,
    find: "run.endByForce(change, now);",
    replace: "run.end(change, now);",
  },
  {
    name: "terminating leaves the lease with its holder",
    guards: ["INV-33", "INV-37"],
    edits: [
      {
        file: change,
        find: "run.endByForce(change, now);",
        replace: `{ const { isLeased } = run;
      run.end(change, now);
      if (isLeased) run.change({ lane: 3 }); }`,
      },
      {
        file: commit,
        find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
        replace: "return run.isLeased && isNext",
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
    find: "if (!isMeant || !when.statuses.includes(status)) return",
    replace: "if (!isMeant && when.statuses.length === 0) return",
  },
  {
    name: "a restart is made whichever run it was meant for",
    guards: ["INV-35"],
    file: change,
    find: "const isMeant = meantNumber === runNumber && meantToken === run.row.token;",
    replace: "const isMeant = meantNumber <= runNumber && meantToken === run.row.token;",
  },
  {
    name: "a restart leaves the run before it claimable",
    guards: ["INV-38"],
    file: change,
    find: "if (!run.hasEnded) {",
    replace: "if (run.isLeased && !run.hasEnded) {",
  },
  {
    name: "a restart does not move the token of the run before it",
    guards: ["INV-42"],
    file: change,
    find: 'run.endByForce({ kind: "terminate"',
    replace: 'run.end({ kind: "terminate"',
  },
  {
    name: "a restart keeps the steps of the run before it",
    guards: ["INV-38"],
    file: "stores/memory/save.ts",
    find: "  owner.runs.push(run);",
    replace: `  for (const step of owner.runs.at(-1)?.steps.values() ?? []) {
    if (step.status !== "completed") continue;
    run.steps.set(step.index, step);
    row.recorded = true;
  }
  owner.runs.push(run);`,
  },
  {
    name: "a restart from a step forgets what was before it",
    guards: ["INV-38"],
    file: change,
    find: "return addNextRun(set, run, { token, history }, now);",
    replace: "return addNextRun(set, run, { token, history: [] }, now);",
  },
  {
    name: "a restart brings the events of the run before it along",
    guards: ["INV-38"],
    file: change,
    find: "return addNextRun(set, run, { token, history }, now);",
    replace: `const next = addNextRun(set, run, { token, history }, now);
  for (const event of run.undelivered.values()) next.accept(event as never, now);
  return next;`,
  },
  {
    name: "a restart begins with crashes of the run before it",
    guards: ["INV-38"],
    file: change,
    find: "return addNextRun(set, run, { token, history }, now);",
    replace: `const next = addNextRun(set, run, { token, history }, now);
  next.change({ crashCount: run.row.crashCount + 1 });
  return next;`,
  },
  {
    name: "retrying a failed step does not move the token",
    guards: ["INV-33"],
    file: moves,
    find: `    ...fencedOff({ token }),
`,
    replace: `    lastCommit: 0,
`,
  },
  {
    name: "an end forgets its time",
    guards: ["INV-37"],
    file: workingRun,
    find: "this.ending = { ending, at: now };",
    replace: "this.ending = { ending, at: null as never };",
  },
  {
    name: "an instance that ends stays in the queue",
    guards: ["INV-33"],
    file: moves,
    find: `    lane: null,
    waitingSince: null,
    pausedAt: null,`,
    replace: `    lane: ending.kind === "complete" ? lanes.resuming : null,
    waitingSince: null,
    pausedAt: null,`,
  },
];
