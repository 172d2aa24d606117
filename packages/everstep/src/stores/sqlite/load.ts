/** What a request works on. Steps and events of a run are looked up when a rule asks for them. */
import { type InstanceRef, type InstanceStatus, isTerminal } from "../../model/instance.ts";
import { parseJson } from "../../model/json.ts";
import type { StepRecord } from "../../model/step.ts";
import { changeKey, eventKey, nameKey, publicationKey, sent } from "../../store/apply/keys.ts";
import { lanes } from "../../store/apply/lane.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type {
  BufferedEvent,
  KnownWait,
  RunShelf,
  TakenEvent,
  WorkingRun,
} from "../../store/apply/working-run.ts";
import type { WorkingSet } from "../../store/apply/working-set.ts";
import type {
  AbandonRequest,
  ChangeOutcome,
  ChangeRequest,
  PublishRequest,
  SendEventRequest,
  StoreRequest,
} from "../../store/store.ts";
import { withWorkflows } from "../sql/reads/strands.ts";
import {
  idOf,
  isKey,
  publishedKey,
  sentKey,
  publicationKey as storedPublicationKey,
} from "../sql/rows/event-row.ts";
import { readRunList } from "../sql/rows/json-column.ts";
import { integer } from "../sql/rows/row.ts";
import type { SqliteStatement } from "./driver.ts";
import { type LoadedRun, type RunRows, waitOf } from "./save.ts";
import type { Connection } from "./session.ts";

/** Adds to the set what the request is about. */
type Load = (set: WorkingSet, request: StoreRequest) => void;

export function loads(connection: Connection, rows: RunRows): Load {
  const shelves = shelfStatements(connection);
  const add = (set: WorkingSet, loaded: LoadedRun, waits?: Map<number, KnownWait>): WorkingRun => {
    const { row, instanceId, retentionMs } = loaded;
    const instance = {
      id: row.instance,
      workflowName: row.workflow,
      instanceId,
      retentionMs,
      request: null,
      isMoved: false,
    };
    return set.add(row, instance, false, new Shelf(loaded, shelves, waits));
  };
  const addRun = (set: WorkingSet, run: number): void => {
    const loaded = set.runs.has(run) ? undefined : rows.byRun(run);
    if (loaded !== undefined) add(set, loaded);
  };
  const addNamed = (set: WorkingSet, ref: InstanceRef): WorkingRun | undefined => {
    const known = set.find(ref);
    if (known !== undefined) return known;
    const loaded = rows.byName(ref.workflowName, ref.instanceId);
    return loaded && add(set, loaded);
  };

  const addExisting = existingInstances(connection);
  const addEventId = eventIds(connection);
  const addChange = madeChanges(connection);
  const addPublication = publications(connection, (set, topic, onWaiter) => {
    for (const loaded of rows.byTopic(topic)) {
      // Only the waits on the topic are known, and no rule asks for others: nothing but the publication is in this set.
      const run = set.runs.get(loaded.row.run) ?? add(set, loaded, new Map());
      const wait = waitOf(loaded);
      run.waits.set(wait.index, wait);
      onWaiter(loaded.row, wait.index);
    }
  });
  const addOwned = ownedRuns(connection, addRun);

  const load: Load = (set, request) => {
    switch (request.kind) {
      case "create":
        return addExisting(set, request);
      case "commit":
        addRun(set, runKey(request.lease.runId));
        for (const each of request.alongside) load(set, each);
        if (request.announce) addExisting(set, request.announce);
        return;
      case "sendEvent":
        return addEventId(set, addNamed(set, request), request);
      case "publish":
        return addPublication(set, request);
      case "change":
        addChange(set, addNamed(set, request), request);
        if (request.announce) addExisting(set, request.announce);
        return;
      case "delete":
        addNamed(set, request);
        return;
      case "wake":
        return addRun(set, runKey(request.runId));
      case "abandon":
        return addOwned(set, request);
    }
  };
  return load;
}

function existingInstances({ db, names }: Connection): (set: WorkingSet, ref: InstanceRef) => void {
  const find = db.prepareTuples(
    `SELECT r.status, r.run_number FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run
     WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  return (set, ref) => {
    const found = find.get(ref.workflowName, ref.instanceId);
    if (found === undefined) return;
    set.existing.set(nameKey(ref), { status: found[0] as InstanceStatus, runNumber: found[1] as number });
  };
}

/** One of an earlier version is kept under its id alone. */
function eventIds({ db, names }: Connection) {
  const find = db.prepareTuples(
    `SELECT coalesce((SELECT run FROM ${names.event} WHERE id = ?), (
       SELECT e.run FROM ${names.event} e JOIN ${names.run} r ON r.id = e.run WHERE e.id = ? AND r.instance = ?
     ))`,
  );
  return (set: WorkingSet, run: WorkingRun | undefined, { id }: SendEventRequest): void => {
    if (run === undefined) return;
    const { instance } = run.row;
    const key = sentKey(instance, id);
    const known = find.get(key, isKey(id) ? key : id, instance)?.[0] as number | null;
    if (known !== null) set.eventIds.set(eventKey(instance, sent(id)), known);
  };
}

function madeChanges({ db, names }: Connection) {
  const find = db.prepareTuples(`SELECT outcome FROM ${names.change} WHERE instance = ? AND id = ?`);
  return (set: WorkingSet, run: WorkingRun | undefined, request: ChangeRequest): void => {
    const made = run && find.get(run.row.instance, request.id);
    if (made === undefined) return;
    set.changes.set(changeKey(request, request.id), parseJson(made[0] as string) as ChangeOutcome);
  };
}

type AddRun = (set: WorkingSet, run: number) => void;

type AddWaiters = (set: WorkingSet, topic: string, onWaiter: (row: RunRow, index: number) => void) => void;

/** What was answered before, or the runs that wait on the topic. */
function publications({ db, names }: Connection, addWaiters: AddWaiters) {
  const find = db.prepare(
    `SELECT waiters, runs FROM ${names.publication} WHERE id = ? OR (id = ? AND topic = ?)`,
  );
  const told = db.prepareTuples(`SELECT 1 FROM ${names.event} WHERE id = ?`);
  return (set: WorkingSet, { id, topic }: PublishRequest): void => {
    const key = storedPublicationKey({ topic, id });
    const before = find.get(key, isKey(id) ? key : id, topic);
    if (before !== undefined) {
      const made = { waiters: integer(before, "waiters"), runIds: readRunList(before, "runs") };
      set.publications.set(publicationKey({ topic, id }), made);
      return;
    }
    addWaiters(set, topic, (row, index) => {
      // Of a publication that was forgotten.
      if (row.eventSeq === 0) return;
      const event = publishedKey(id, row.run, index);
      if (told.get(event) !== undefined) set.eventIds.set(event.slice(1), row.run);
    });
  };
}

/** Both look into every workflow's part of an index, because an owner's runs may be of any; owners die rarely. */
function ownedRuns({ db, names }: Connection, addRun: AddRun) {
  const held = db.prepareTuples(
    `${withWorkflows(names)} SELECT r.id FROM known CROSS JOIN ${names.run} r
     WHERE r.workflow = known.workflow AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.owner = ?`,
  );
  const unfinished = db.prepareTuples(
    `${withWorkflows(names)} SELECT r.id FROM known CROSS JOIN ${names.run} r
     WHERE r.workflow = known.workflow AND r.is_current = 1 AND r.status IN ('active', 'waiting', 'paused') AND r.owner = ?`,
  );
  return (set: WorkingSet, { owner, fate }: AbandonRequest): void => {
    const found = (fate.kind === "error" ? unfinished : held).all(owner);
    for (const [run] of found) addRun(set, run as number);
  };
}

interface ShelfStatements {
  readonly open: TupleStatement;
  readonly waiting: TupleStatement;
  readonly step: TupleStatement;
  readonly undelivered: TupleStatement;
  readonly buffered: TupleStatement;
  readonly taken: TupleStatement;
  readonly eventId: TupleStatement;
}

type TupleStatement = SqliteStatement<readonly unknown[]>;

function shelfStatements({ db, names }: Connection): ShelfStatements {
  const wait = "step_index, key, event_type, topic, wake_at";
  const event = "seq, type, for_step, is_system, created_at";
  const undelivered = `FROM ${names.event} WHERE run = ? AND delivered_at IS NULL`;
  return {
    // Named, because the planner would rather read all steps of the run by their key.
    open: db.prepareTuples(
      `SELECT ${wait} FROM ${names.step} INDEXED BY ${names.step}_open WHERE run = ? AND is_open = 1`,
    ),
    waiting: db.prepareTuples(`SELECT ${wait} FROM ${names.step} WHERE run = ? AND status = 'waiting'`),
    step: db.prepareTuples(
      `SELECT 1 FROM ${names.step} WHERE run = ? AND step_index = ? AND status <> 'waiting'`,
    ),
    undelivered: db.prepareTuples(`SELECT ${event} ${undelivered}`),
    buffered: db.prepareTuples(`SELECT count(*) ${undelivered} AND is_system = 0`),
    taken: db.prepareTuples(`SELECT ${event} FROM ${names.event} WHERE run = ? AND consumed_by = ?`),
    eventId: db.prepareTuples(`SELECT id FROM ${names.event} WHERE run = ? AND seq = ?`),
  };
}

export class Shelf implements RunShelf {
  readonly before: LoadedRun["before"];
  readonly #run: number;
  readonly #hasEnded: boolean;
  readonly #hasEvents: boolean;
  readonly #statements: ShelfStatements;
  readonly #waits: Map<number, KnownWait> | undefined;

  constructor({ row, before }: LoadedRun, statements: ShelfStatements, waits?: Map<number, KnownWait>) {
    this.before = before;
    this.#waits = waits;
    this.#run = row.run;
    this.#hasEnded = isTerminal(row.status);
    this.#hasEvents = row.eventSeq > 0;
    this.#statements = statements;
  }

  /** Waits of a run that has ended are not open any more. */
  waits(): Map<number, KnownWait> {
    if (this.#waits !== undefined) return this.#waits;
    const { open, waiting } = this.#statements;
    const waits = new Map<number, KnownWait>();
    for (const row of (this.#hasEnded ? waiting : open).all(this.#run))
      waits.set(row[0] as number, readWait(row));
    return waits;
  }

  /** A step that settles replaces a wait and nothing else (steps.ts). */
  hasSettled({ status, index }: StepRecord): boolean {
    return status === "waiting" && this.#statements.step.get(this.#run, index) !== undefined;
  }

  undelivered(): Map<number, BufferedEvent> {
    const events = new Map<number, BufferedEvent>();
    if (!this.#hasEvents) return events;
    for (const row of this.#statements.undelivered.all(this.#run))
      events.set(row[0] as number, readEvent(row));
    return events;
  }

  countBuffered(): number {
    return this.#statements.buffered.get(this.#run)?.[0] as number;
  }

  *takenBy(stepKeys: readonly string[]): Generator<TakenEvent> {
    for (const consumedBy of stepKeys) {
      for (const row of this.#statements.taken.all(this.#run, consumedBy))
        yield { ...readEvent(row), consumedBy };
    }
  }

  idOfEvent(seq: number): string | undefined {
    const found = this.#statements.eventId.get(this.#run, seq);
    return found && idOf(found[0] as string);
  }
}

/** Behind its index. */
function readWait(row: readonly unknown[]): KnownWait {
  return {
    key: row[1] as string,
    eventType: row[2] as string | null,
    topic: row[3] as string | null,
    wakeAt: row[4] as number,
  };
}

function readEvent(row: readonly unknown[]): BufferedEvent {
  return {
    seq: row[0] as number,
    type: row[1] as string | null,
    forStep: row[2] as string | null,
    system: row[3] === 1,
    createdAt: row[4] as number,
  };
}
