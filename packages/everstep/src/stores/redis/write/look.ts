/** What the look script is asked for, and the working set that is made of what it has found. */
import type { InstanceRef } from "../../../model/instance.ts";
import { changeKey, eventKey, nameKey, publicationKey, sent } from "../../../store/apply/keys.ts";
import { type Needs, needsOf } from "../../../store/apply/needs.ts";
import { runKey } from "../../../store/apply/run-key.ts";
import type {
  BufferedEvent,
  KnownWait,
  RunShelf,
  TakenEvent,
  WorkingRun,
} from "../../../store/apply/working-run.ts";
import { type WorkingInstance, WorkingSet } from "../../../store/apply/working-set.ts";
import type { CommitRequest, StoreRequest } from "../../../store/store.ts";
import {
  count,
  type FieldTexts,
  fieldsOf,
  readRow,
  runFields,
  statusOr,
  timeOf,
} from "../records/run-fields.ts";
import { Arguments, integer, list, type Reply, text, textOrNull } from "../server/script-values.ts";
import { readChange, readPublication } from "./save.ts";

/** One batch, looked at as often as it takes. */
export interface Look {
  /** Of the script, the same each time. */
  readonly args: readonly string[];
  /** Runs that it may create. */
  readonly newRuns: number;
  /** What the script has found; ids of new runs begin with `firstId`. */
  read(found: Reply, firstId: number): Seen;
}

export interface Seen {
  readonly set: WorkingSet;
  /** What the hashes of runs say, before anything is applied. */
  readonly before: ReadonlyMap<WorkingRun, FieldTexts>;
}

export function lookFor(requests: readonly StoreRequest[]): Look {
  const needs = needsOf(requests);
  const asked = { needs, steps: stepsOf(requests) };
  return {
    args: argumentsFor(asked).list,
    newRuns: needs.newRuns,
    read: (found, firstId) => readFound(asked, list(found), firstId),
  };
}

interface Asked {
  readonly needs: Needs;
  /** All that commits write: one that has settled is not written again. */
  readonly steps: readonly { readonly run: number; readonly index: number }[];
}

function stepsOf(requests: readonly StoreRequest[]): Asked["steps"] {
  const commits = requests.filter((request): request is CommitRequest => request.kind === "commit");
  return commits.flatMap(({ lease, boundary: { steps, timeouts } }) =>
    [...steps, ...timeouts.map(({ settled }) => settled)].map(({ index }) => ({
      run: runKey(lease.runId),
      index,
    })),
  );
}

function argumentsFor({ needs, steps }: Asked): Arguments {
  const args = new Arguments();
  const addName = ({ workflowName, instanceId }: InstanceRef) => args.add(workflowName, instanceId);
  args.each([...needs.runs], (run) => args.add(run).number(eventsAfter(needs, run)));
  args.each([...needs.names], ([key, ref]) => addName(ref).number(leastBuffered(needs, key)));
  args.each(needs.abandons, ({ owner, fate }) => {
    args.add(owner).flag(fate.kind === "error");
    args.number(fate.kind === "release" ? fate.token : null);
  });
  args.each(needs.publishes, ({ topic, id }) => args.add(topic, id));
  args.each([...needs.creates.values()], addName);
  args.each(needs.eventIds, ({ ref, id }) => addName(ref).add(id));
  args.each(needs.changes, ({ ref, id }) => addName(ref).add(id));
  args.each(needs.heard, ({ run, seq }) => args.add(run, seq));
  args.each(steps, ({ run, index }) => args.add(run, index));
  args.each(needs.retries, ({ ref, stepKeys }) => addName(ref).each(stepKeys, (key) => args.add(key)));
  return args;
}

/** Of which undelivered events the decisions depend; null: none. */
function eventsAfter({ looks, publishes, topicRuns }: Needs, run: number): number | null {
  // A wait that this very batch registers may have its event already.
  return publishes.length > 0 && topicRuns.has(run) ? 0 : (looks.get(run) ?? null);
}

/** How many undelivered events there must be for them to matter; null: they never do. */
function leastBuffered({ sends, retries, publishes }: Needs, key: string): number | null {
  if (retries.some(({ ref }) => nameKey(ref) === key)) return 0;
  const send = sends.get(key);
  if (send === undefined) return null;
  return publishes.length > 0 ? 0 : Math.max(0, send.bufferMax - send.count);
}

function readFound(asked: Asked, found: readonly Reply[], firstId: number): Seen {
  const [topics, creates, events, changes, heard, exist, taken, runs] = found.map(list) as Found;
  let nextId = firstId;
  const set = new WorkingSet(() => nextId++);
  const before = new Map<WorkingRun, FieldTexts>();
  const shelves = new Map<number, Shelf>();
  const instances = new Map<number, WorkingInstance>();
  for (const reply of runs) {
    const shelf = new Shelf(list(reply));
    const { row } = shelf;
    const instance = instances.get(row.instance) ?? shelf.instance;
    instances.set(row.instance, instance);
    shelves.set(row.run, shelf);
    before.set(set.add(row, instance, false, shelf), fieldsOf(row));
  }
  const { needs, steps } = asked;
  eachFound(needs.publishes, topics, (request, report) =>
    set.publications.set(publicationKey(request), readPublication(text(report))),
  );
  eachFound([...needs.creates.values()], creates, (ref, there) => {
    const [status, number] = list(there);
    set.existing.set(nameKey(ref), { status: statusOr(status), runNumber: count(number) });
  });
  eachFound(needs.eventIds, events, ({ ref, id }, run) => {
    const instance = set.find(ref)?.row.instance;
    if (instance !== undefined) set.eventIds.set(eventKey(instance, sent(id)), integer(run));
  });
  eachFound(needs.changes, changes, ({ ref, id }, report) =>
    set.changes.set(changeKey(ref, id), readChange(text(report))),
  );
  eachFound(needs.heard, heard, ({ run, seq }, id) => shelves.get(run)?.heard.set(seq, text(id)));
  eachFound(steps, exist, ({ run, index }, is) => is === "1" && shelves.get(run)?.written.add(index));
  eachFound(needs.retries, taken, (_retry, reply) => {
    const [run, rows] = list(reply);
    if (run !== null) shelves.get(integer(run))?.taken.push(...list(rows).map((row) => readTaken(list(row))));
  });
  return { set, before };
}

type Replies = readonly Reply[];
type Found = [Replies, Replies, Replies, Replies, Replies, Replies, Replies, Replies];

/** What was asked for, each with what was found; without what is not there. */
function eachFound<Item>(
  items: readonly Item[],
  replies: Replies,
  take: (item: Item, reply: Reply) => unknown,
): void {
  for (const [n, item] of items.entries()) {
    const reply = replies[n] ?? null;
    if (reply !== null) take(item, reply);
  }
}

/** What was read of a run beside its hash. */
class Shelf implements RunShelf {
  readonly row;
  readonly instance: WorkingInstance;
  readonly written: Set<number> = new Set();
  readonly heard: Map<number, string> = new Map();
  readonly taken: TakenEvent[] = [];
  readonly #waits: Map<number, KnownWait>;
  readonly #unread: readonly BufferedEvent[];
  readonly #buffered: number;

  constructor([id, retention, stored, waits, unread]: readonly Reply[]) {
    const values = list(stored);
    this.row = readRow(integer(id), values);
    this.instance = {
      id: this.row.instance,
      workflowName: this.row.workflow,
      instanceId: text(values[runFields.indexOf("instance")]),
      retentionMs: timeOf(retention),
      request: null,
      isMoved: false,
    };
    this.#waits = new Map(list(waits).map((wait) => readWait(list(wait))));
    this.#unread = list(unread).map((event) => readBuffered(list(event)));
    this.#buffered = count(values[runFields.indexOf("buffered")]);
  }

  waits(): Map<number, KnownWait> {
    return new Map(this.#waits);
  }

  hasSettled({ index }: { readonly index: number }): boolean {
    return this.written.has(index) && !this.#waits.has(index);
  }

  undelivered(): Map<number, BufferedEvent> {
    return new Map(this.#unread.map((event) => [event.seq, event]));
  }

  countBuffered(): number {
    return this.#buffered;
  }

  takenBy(stepKeys: readonly string[]): Iterable<TakenEvent> {
    return this.taken.filter(({ consumedBy }) => stepKeys.includes(consumedBy));
  }

  idOfEvent(seq: number): string | undefined {
    return this.heard.get(seq);
  }
}

function readWait([index, wakeAt, key, eventType, topic]: readonly Reply[]): [number, KnownWait] {
  return [
    integer(index),
    {
      wakeAt: integer(wakeAt),
      key: text(key),
      eventType: textOrNull(eventType),
      topic: textOrNull(topic),
    },
  ];
}

function readBuffered([seq, type, forStep, system, createdAt]: readonly Reply[]): BufferedEvent {
  return {
    seq: integer(seq),
    type: textOrNull(type),
    forStep: textOrNull(forStep),
    system: system === "1",
    createdAt: integer(createdAt),
  };
}

function readTaken(row: readonly Reply[]): TakenEvent {
  return { ...readBuffered(row), consumedBy: text(row[5]) };
}
