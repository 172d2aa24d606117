/** Events that are lost, doubled, taken out of order, too late, or that wake nobody. */
import type { Mutant } from "./mutant.ts";

const commit = "store/apply/apply-commit.ts";
const events = "store/apply/apply-events.ts";
const workingRun = "store/apply/working-run.ts";

export const eventMutants: readonly Mutant[] = [
  {
    name: "a wait is recorded without taking its event",
    guards: ["INV-11", "INV-24"],
    file: workingRun,
    find: "if (this.consumed.has(seq) || seq > this.row.eventSeq) return;",
    replace:
      "if (this.consumed.has(seq) || seq > this.row.eventSeq || !this.undelivered.get(seq)?.system) return;",
  },
  {
    name: "an event is taken without recording its wait",
    guards: ["INV-11", "INV-22"],
    file: commit,
    find: "for (const step of boundary.steps) run.putStep(step);",
    replace: `const taking = new Set(boundary.consumed.map(({ stepKey }) => stepKey));
  for (const step of boundary.steps) if (!taking.has(step.key)) run.putStep(step);`,
  },
  {
    name: "an event is taken one commit after its wait",
    guards: ["INV-11", "INV-24"],
    edits: [
      {
        file: "engine/draft.ts",
        find: "  #consumed: ConsumedEvent[] = [];\n  #logs",
        replace: "  #consumed: ConsumedEvent[] = [];\n  #consumedBefore: ConsumedEvent[] = [];\n  #logs",
      },
      {
        file: "engine/draft.ts",
        find: "consumed: orNone(this.#consumed),",
        replace: "consumed: this.#consumedBefore,",
      },
      {
        file: "engine/draft.ts",
        find: "if (this.#consumed.length > 0) this.#consumed = [];",
        replace: "this.#consumedBefore = this.#consumed;\n    this.#consumed = [];",
      },
    ],
  },
  {
    name: "a wait begins without looking for an event that is there",
    guards: ["INV-23"],
    file: commit,
    find: "const dueNow = timeoutsRefused || run.hasAwaitedEvent(eventSeqSeen);",
    replace: "const dueNow = timeoutsRefused;",
  },
  {
    name: "a turn that ends in a wait looks for events before its commit",
    guards: ["INV-23"],
    edits: [
      {
        file: commit,
        find: "  const timeoutsRefused = !settleTimeouts(run, boundary);",
        replace: `  const timeoutsRefused = !settleTimeouts(run, boundary);
  const known = new Map(run.waits);
  for (const step of boundary.steps) known.delete(step.index);`,
      },
      {
        file: commit,
        find: "const dueNow = goOn(run, request, timeoutsRefused, now);",
        replace: "const dueNow = goOn(run, request, timeoutsRefused, now, known);",
      },
      {
        file: commit,
        find: `  timeoutsRefused: boolean,
  now: number,
): boolean {`,
        replace: `  timeoutsRefused: boolean,
  now: number,
  known: typeof run.waits,
): boolean {`,
      },
      {
        file: commit,
        find: "run.hasAwaitedEvent(eventSeqSeen)",
        replace: "run.hasEventFor(known.values(), eventSeqSeen)",
      },
    ],
  },
  {
    name: "an event does not wake the run that waits for it",
    guards: ["INV-23"],
    file: workingRun,
    find: `this.makeDue("wake", now);
    return true;`,
    replace: "return true;",
  },
  {
    name: "an event makes a run due that another holds",
    guards: ["INV-1"],
    file: workingRun,
    find: "if (!canBeWoken(this.row) || !this.isAwaited(given)) return false;",
    replace: 'if (this.row.status === "paused" || !this.isAwaited(given)) return false;',
  },
  {
    name: "events are read in the order of their timestamps",
    guards: ["INV-24"],
    file: "stores/memory/reads.ts",
    find: "events: events.sort((a, b) => a.seq - b.seq),",
    replace: "events: events.sort((a, b) => a.createdAt - b.createdAt),",
  },
  {
    name: "the newest event is taken first",
    guards: ["INV-24"],
    file: "engine/decide.ts",
    find: "return events.find((event) => endsWait(event, { key, eventType, wakeAt })) ?? null;",
    replace: "return events.findLast((event) => endsWait(event, { key, eventType, wakeAt })) ?? null;",
  },
  {
    name: "one event ends two waits",
    guards: ["INV-24"],
    file: "engine/inbox.ts",
    find: "this.#events = this.#events.filter((other) => other.seq !== event.seq);",
    replace: "void event;",
  },
  {
    name: "a wait times out although its event is there",
    guards: ["INV-26"],
    file: commit,
    find: "if (run.hasEventFor(waits, eventSeqSeen)) return false;",
    replace: "void eventSeqSeen;",
  },
  {
    name: "a timeout that was refused is handed over",
    guards: ["INV-26"],
    file: "engine/commit-answers.ts",
    find: "if (outcome.timeoutsRefused) this.#withdrawTimeouts();",
    replace: "",
  },
  {
    name: "an event that came after the deadline is taken",
    guards: ["INV-26"],
    file: "model/wait-match.ts",
    find: "if (event.createdAt > wait.wakeAt) return false;",
    replace: "",
  },
  {
    name: "< for <= where an event comes at the last moment",
    guards: ["INV-26"],
    file: "model/wait-match.ts",
    find: "if (event.createdAt > wait.wakeAt) return false;",
    replace: "if (event.createdAt >= wait.wakeAt) return false;",
  },
  {
    name: "a run that has ended takes events",
    guards: ["INV-27"],
    file: events,
    find: 'if (run.hasEnded) return { kind: "terminal", status };',
    replace: "",
  },
  {
    name: "events go to the first run of an instance",
    guards: ["INV-27"],
    edits: [
      {
        file: "stores/memory/load.ts",
        find: "for (const ref of needs.names.values()) addRun(set, currentOf(database, ref));",
        replace: `for (const ref of needs.names.values()) {
    addRun(set, currentOf(database, ref));
    addRun(set, database.find(ref)?.runs[0]);
  }`,
      },
      {
        file: events,
        find: "const run = set.find(request);",
        replace: `const current = set.find(request);
  const run = current && set.runs.get(current.instance.id);`,
      },
    ],
  },
  {
    name: "a wait that has its event is published to again",
    guards: ["INV-24"],
    file: workingRun,
    find: "for (const event of this.undelivered.values()) if (event.forStep === key) return true;",
    replace: "void key;",
  },
  {
    name: "a publication reaches waits that are over",
    guards: ["INV-26"],
    file: events,
    find: "wait.topic === topic && wait.wakeAt >= now && !run",
    replace: "wait.topic === topic && !run",
  },
  {
    name: "what is sent alongside is not sent",
    guards: ["INV-11"],
    file: commit,
    find: "  sendAlongside(set, run, request, now);",
    replace: "",
  },
  {
    name: "what is sent alongside goes with a failed attempt too",
    guards: ["INV-11"],
    file: "engine/hand-over.ts",
    find: 'if (record.status === "completed") this.#draft.alongside(body.alongside);',
    replace: "this.#draft.alongside(body.alongside);",
  },
  {
    name: "a turn that goes on in memory does not read what was sent meanwhile",
    guards: ["INV-23"],
    file: "runner/ready-runs.ts",
    find: "return steps || claim.eventSeq > seen ? { runId, steps, eventsAfter: seen } : null;",
    replace: "return steps ? { runId, steps, eventsAfter: seen } : null;",
  },
];
