/** Mistakes of a store that no simulated world can show. */
import type { Unseen } from "./mutant.ts";

const storeContract = "stores/memory/memory-store.test.ts";

const change = "store/apply/apply-change.ts";
const commit = "store/apply/apply-commit.ts";
const deletion = "store/apply/apply-delete.ts";
const events = "store/apply/apply-events.ts";
const leases = "store/apply/apply-lease.ts";
const workingRun = "store/apply/working-run.ts";

export const unseenInStore: readonly Unseen[] = [
  {
    name: "a deletion takes an instance that was created later under the same id",
    guards: ["INV-36"],
    file: deletion,
    find: 'if (firstRun !== undefined && runKey(firstRun) !== found.firstRun) return { kind: "not-found" };',
    replace: "void firstRun;",
    because: "Simulated operators delete nothing.",
    noticedBy: storeContract,
  },
  {
    name: "a deletion that wants an end takes an instance that goes on",
    guards: ["INV-36"],
    file: deletion,
    find: 'if (statuses !== undefined && !statuses.includes(status)) return { kind: "refused", status, runNumber };',
    replace: "void statuses;",
    because: "Simulated operators delete nothing.",
    noticedBy: storeContract,
  },
  {
    name: "what was decided about a deleted instance answers for the next one in the same batch",
    guards: ["INV-36"],
    file: "store/apply/working-set.ts",
    find: "if (isChangeOf(key, instance)) this.#changes?.delete(key);",
    replace: "void isChangeOf;",
    because: "Simulated operators delete nothing.",
    noticedBy: storeContract,
  },
  {
    name: "a commit that builds on a lost event is applied",
    guards: ["INV-24"],
    file: commit,
    find: 'if (heardOfLost(boundary, (seq) => run.idOfEvent(seq))) return { kind: "superseded" };',
    replace: "void heardOfLost;",
    because:
      "One world in a thousand loses an event between the moment a turn hears of it and its next commit.",
    noticedBy: storeContract,
  },
  {
    name: "an event that reaches nobody is not told in the log of its sender",
    guards: ["INV-11"],
    file: commit,
    find: "else run.addLogs(undeliveredLines(request, applySendEvent(set, request, now)));",
    replace: "else applySendEvent(set, request, now);",
    because: "Lines that the engine writes itself are not compared between worlds.",
    noticedBy: storeContract,
  },
  {
    name: "a commit of a run that is not current is applied",
    guards: ["INV-38"],
    file: commit,
    find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
    replace: "return run.isLeased && !run.hasEnded && isNext",
    because:
      "A restart ends the run before it and moves its token, so such a commit is refused three times over.",
    noticedBy: null,
  },
  {
    name: "a commit is applied although one before it is missing",
    guards: ["INV-42"],
    file: commit,
    find: "return run.isLeased && !run.hasEnded && isCurrent && isNext",
    replace: "return run.isLeased && !run.hasEnded && isCurrent",
    because:
      "A turn sends one commit at a time and repeats it until it is answered, so none is ever missing.",
    noticedBy: storeContract,
  },
  {
    name: "a completed step is written again",
    guards: ["INV-7"],
    file: workingRun,
    find: "if (this.#hasSettled(step)) return;",
    replace: "",
    because:
      "The engine never sends a second record of a step that is settled; the store guards against one that would.",
    noticedBy: storeContract,
  },
  {
    name: "an open wait is not shifted when a run is resumed",
    guards: ["INV-29"],
    file: change,
    find: "run.shiftWaits(Math.max(0, now - pausedAt));",
    replace: "void pausedAt;",
    because:
      "Only instances of classes written for Cloudflare ask for it, and the programs of a world are none.",
    noticedBy: storeContract,
  },
  {
    name: "an open wait is shifted twice when a run is resumed",
    guards: ["INV-29"],
    file: change,
    find: "run.shiftWaits(Math.max(0, now - pausedAt));",
    replace: "run.shiftWaits(2 * Math.max(0, now - pausedAt));",
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
    file: leases,
    find: "if (run === undefined || run.row.token !== token || run.row.lane === null || run.isLeased)",
    replace: "if (run === undefined || run.row.lane === null || run.isLeased)",
    because:
      "It takes author code that waits outside of steps, in two processes at once; and all it costs is a turn too many.",
    noticedBy: storeContract,
  },
  {
    name: "a repeated commit says that its timeouts stand",
    guards: ["INV-26", "INV-42"],
    file: commit,
    find: "const timeoutsRefused = timeouts.some(({ wait }) => run.waits.has(wait.index));",
    replace: "const timeoutsRefused = false;",
    because:
      "A timeout must be refused, and the answer that says so be lost: that happens in one world of thousands.",
    noticedBy: storeContract,
  },
  {
    name: "a retry is made although another was made meanwhile",
    guards: ["INV-10", "INV-35"],
    file: change,
    find: "const isMeant = meantNumber === runNumber && meantToken === run.row.token;",
    replace: "const isMeant = meantNumber === runNumber && meantToken <= run.row.token;",
    because: "Two people must have the same failed step tried again at once, and it must fail in between.",
    noticedBy: storeContract,
  },
  {
    name: "a retried step does not give its events back",
    guards: ["INV-22"],
    file: change,
    find: "run.releaseEvents(change.releaseEventsOf);",
    replace: "",
    because: "A wait inside of a step must take an event, and the step fail for good after it.",
    noticedBy: storeContract,
  },
  {
    name: "a run holds one event more than it may",
    guards: ["INV-48"],
    file: events,
    find: "run.countBuffered() >= bufferMax",
    replace: "run.countBuffered() > bufferMax",
    because: "The limit is 10,000 events, and a world sends a few hundred.",
    noticedBy: storeContract,
  },
  {
    name: "a run holds any number of events",
    guards: ["INV-48"],
    file: events,
    find: 'if (isFull(run, request)) return { kind: "buffer-full" };',
    replace: "",
    because: "The limit is 10,000 events, and a world sends a few hundred.",
    noticedBy: storeContract,
  },
  {
    name: "a renewal that a commit has overtaken forgets bodies",
    guards: ["INV-9"],
    file: leases,
    find: "const isUpToDate = commit === undefined || commit === row.lastCommit;",
    replace: "const isUpToDate = true;",
    because:
      "A renewal and a commit must overtake each other, and the process die before the next of either.",
    noticedBy: storeContract,
  },
  {
    name: "a holder whose commits the store has lost is renewed",
    guards: ["INV-2"],
    file: leases,
    find: "if (row === undefined || !isHeld(row, lease) || row.lastCommit < applied)",
    replace: "if (row === undefined || !isHeld(row, lease))",
    because:
      "Its next commit is refused all the same; without one the body under way only goes on for nothing.",
    noticedBy: storeContract,
  },
  {
    name: "a repeated commit promises an end that a pause dropped",
    guards: ["INV-42"],
    file: commit,
    find: 'if (isEnding(next) && !run.hasEnded) return { kind: "superseded" };',
    replace: "",
    because:
      "The pause, the end and a lost answer must come together, and the run be resumed before the repeat.",
    noticedBy: storeContract,
  },
  {
    name: "a renewal of rows is not asked for its token",
    guards: ["INV-4"],
    file: "stores/sql/lease/leases.ts",
    find: "const held = `r.token = v.token AND r.lane IN (",
    replace: "const held = `r.lane IN (",
    because: "Rows are found by their own token, and written only under the one that was given.",
    noticedBy: null,
  },
  {
    name: "a renewal of rows extends a lease that has lost commits",
    guards: ["INV-2"],
    file: "stores/sql/lease/leases.ts",
    find: " AND t.last_commit >= v.last_commit`;",
    replace: "`;",
    because: "Worlds on tables are slow, and a renewal must follow right after a loss of its last commit.",
    noticedBy: "tests/simulation/sql-rows/rows-store.test.ts",
  },
  {
    name: "a quick suspension does not look for its event",
    guards: ["INV-23"],
    file: "stores/sql/write/quick-write.ts",
    find: 'eventSeqSeen: boundary.next.kind === "suspend" ? boundary.eventSeqSeen : null,',
    replace: "eventSeqSeen: null,",
    because: "Worlds on tables are slow, and it takes more of them than anybody waits for.",
    noticedBy: "tests/simulation/sql-rows/rows-store.test.ts",
  },
  {
    name: "an event ends the delay after a crash",
    guards: ["INV-50"],
    file: "model/lease.ts",
    find: 'return run.status === "active" && run.crashCount > 0;',
    replace: 'return run.status === "complete" && run.crashCount > 0;',
    because: "A run that waits out a crash must get the event it waits for meanwhile, and then die again.",
    noticedBy: "stores/memory/memory-store.test.ts",
  },
  {
    name: "rows are written although the store refused a part of them",
    guards: ["INV-11"],
    file: "stores/memory/author-rows.ts",
    find: "draft.set(key, { value: structuredClone(value) });",
    replace: "draft.set(key, { value: structuredClone(value) });\n    rows.set(key, structuredClone(value));",
    because: "Rows of simulated programs are refused before the first is written.",
    noticedBy: "stores/memory/memory-store.test.ts",
  },
];
