/** Mistakes of a store that no simulated world can show. */
import type { Unseen } from "./mutant.ts";

const storeContract = "stores/memory/memory-store.test.ts";

export const unseenInStore: readonly Unseen[] = [
  {
    name: "an event that reaches nobody is not told in the log of its sender",
    guards: ["INV-11"],
    file: "stores/memory/commit.ts",
    find: "else addLogs(run, undeliveredLines(request, sendEvent(database, request, now)));",
    replace: "else sendEvent(database, request, now);",
    because: "Lines that the engine writes itself are not compared between worlds.",
    noticedBy: storeContract,
  },
  {
    name: "a commit of a run that is not current is applied",
    guards: ["INV-38"],
    file: "stores/memory/commit.ts",
    find: "if (!run.leased || isTerminal(run.status) || run !== currentRun(run.instance))",
    replace: "if (!run.leased || isTerminal(run.status))",
    because:
      "A restart ends the run before it and moves its token, so such a commit is refused three times over.",
    noticedBy: null,
  },
  {
    name: "a commit is applied although one before it is missing",
    guards: ["INV-42"],
    file: "stores/memory/commit.ts",
    find: 'if (numberBefore(boundary) !== run.lastCommit) return { kind: "superseded" };',
    replace: "",
    because:
      "A turn sends one commit at a time and repeats it until it is answered, so none is ever missing.",
    noticedBy: storeContract,
  },
  {
    name: "a completed step is written again",
    guards: ["INV-7"],
    file: "stores/memory/commit.ts",
    find: 'if (known === undefined || known.status === "waiting") database.putStep(run, step);',
    replace: "void known;\n  database.putStep(run, step);",
    because:
      "The engine never sends a second record of a step that is settled; the store guards against one that would.",
    noticedBy: storeContract,
  },
  {
    name: "an open wait is not shifted when a run is resumed",
    guards: ["INV-29"],
    file: "stores/memory/change.ts",
    find: "  if (shiftDeadlines) {\n    for (const wait",
    replace: "  if (shiftDeadlines && pausedMs < 0) {\n    for (const wait",
    because:
      "Only instances of classes written for Cloudflare ask for it, and the programs of a world are none.",
    noticedBy: storeContract,
  },
  {
    name: "an open wait is shifted twice when a run is resumed",
    guards: ["INV-29"],
    file: "stores/memory/change.ts",
    find: "wakeAt: wait.wakeAt + pausedMs }",
    replace: "wakeAt: wait.wakeAt + 2 * pausedMs }",
    because:
      "Only instances of classes written for Cloudflare ask for it, and the programs of a world are none.",
    noticedBy: storeContract,
  },
  {
    name: "starts are claimed before what is under way",
    guards: ["LIV-5"],
    file: "stores/memory/claim.ts",
    find: 'for (const queue of ["resumes", "starts"] as const) {',
    replace: 'for (const queue of ["starts", "resumes"] as const) {',
    because:
      "It takes a backlog of starts that never ends to starve what is under way; a world has six instances.",
    noticedBy: storeContract,
  },
  {
    name: "a wake is not asked for its token",
    guards: ["INV-2"],
    file: "stores/memory/leases.ts",
    find: "if (run === undefined || run.token !== token || run.leased || !isSchedulable(run))",
    replace: "if (run === undefined || run.leased || !isSchedulable(run))",
    because:
      "It takes author code that waits outside of steps, in two processes at once; and all it costs is a turn too many.",
    noticedBy: storeContract,
  },
  {
    name: "a repeated commit says that its timeouts stand",
    guards: ["INV-26", "INV-42"],
    file: "stores/memory/commit.ts",
    find: "const timeoutsRefused = boundary.timeouts.some(({ wait }) => run.open.has(wait.index));",
    replace: "const timeoutsRefused = false;",
    because:
      "A timeout must be refused, and the answer that says so be lost: that happens in one world of thousands.",
    noticedBy: storeContract,
  },
  {
    name: "a retry is made although another was made meanwhile",
    guards: ["INV-10", "INV-35"],
    file: "stores/memory/change.ts",
    find: "if (!statuses.includes(run.status) || runNumber !== run.number || token !== run.token) {",
    replace: "if (!statuses.includes(run.status) || runNumber !== run.number || token > run.token) {",
    because: "Two people must have the same failed step tried again at once, and it must fail in between.",
    noticedBy: storeContract,
  },
  {
    name: "a retried step does not give its events back",
    guards: ["INV-22"],
    file: "stores/memory/change.ts",
    find: "if (event.consumedBy === null || !made.releaseEventsOf.includes(event.consumedBy)) continue;",
    replace: "continue;",
    because: "A wait inside of a step must take an event, and the step fail for good after it.",
    noticedBy: storeContract,
  },
  {
    name: "a run holds one event more than it may",
    guards: ["INV-48"],
    file: "stores/memory/events.ts",
    find: "countBuffered(run) >= request.bufferMax",
    replace: "countBuffered(run) > request.bufferMax",
    because: "The limit is 10,000 events, and a world sends a few hundred.",
    noticedBy: storeContract,
  },
  {
    name: "a run holds any number of events",
    guards: ["INV-48"],
    file: "stores/memory/events.ts",
    find: 'if (!request.system && countBuffered(run) >= request.bufferMax) return { kind: "buffer-full" };',
    replace: "",
    because: "The limit is 10,000 events, and a world sends a few hundred.",
    noticedBy: storeContract,
  },
  {
    name: "a renewal that a commit has overtaken forgets bodies",
    guards: ["INV-9"],
    file: "stores/memory/leases.ts",
    find: "if (commit === undefined || commit === run.lastCommit) run.begun = detached(begun);",
    replace: "void commit;\n  run.begun = detached(begun);",
    because:
      "A renewal and a commit must overtake each other, and the process die before the next of either.",
    noticedBy: storeContract,
  },
  {
    name: "a holder whose commits the store has lost is renewed",
    guards: ["INV-2"],
    file: "stores/memory/leases.ts",
    find: 'if (run === undefined || run.lastCommit < applied) return { kind: "lost" };',
    replace: 'void applied;\n  if (run === undefined) return { kind: "lost" };',
    because:
      "Its next commit is refused all the same; without one the body under way only goes on for nothing.",
    noticedBy: storeContract,
  },
  {
    name: "a planned commit that is repeated promises an end that a pause dropped",
    guards: ["INV-42"],
    file: "stores/sql/plan-commit.ts",
    find: 'if (isEnding(next) && !run.hasEnded) return { kind: "superseded" };',
    replace: "",
    because: "Worlds on tables are slow, and it takes more of them than anybody waits for.",
    noticedBy: "testing/simulate/sql-rows/rows-store.test.ts",
  },
  {
    name: "a renewal of rows is not asked for its token",
    guards: ["INV-4"],
    file: "stores/sql/leases.ts",
    find: "const held = `r.token = v.token AND r.lane IN (",
    replace: "const held = `r.lane IN (",
    because: "Rows are found by their own token, and written only under the one that was given.",
    noticedBy: null,
  },
  {
    name: "a quick suspension does not look for its event",
    guards: ["INV-23"],
    file: "stores/sql/quick-write.ts",
    find: 'eventSeqSeen: boundary.next.kind === "suspend" ? boundary.eventSeqSeen : null,',
    replace: "eventSeqSeen: null,",
    because: "Worlds on tables are slow, and it takes more of them than anybody waits for.",
    noticedBy: "testing/simulate/sql-rows/rows-store.test.ts",
  },
];
