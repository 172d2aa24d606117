/**
 * A run as a batch of requests sees it: its row and as much of its steps and events as the requests need, changed in
 * memory request by request, and what of that has to be saved, in this order:
 *
 *   row                      when `isNew` or `isChanged`
 *   stepDrops, then stepPuts, then shifts (only the time at which a wait ends has changed)
 *   forgetsEnding, then ending
 *   newEvents, then released, then consumed (of events that are undelivered)
 *   logs
 *
 * Pure: nothing here knows a database.
 */
import type { EventRecord } from "../../model/event.ts";
import { isTerminal } from "../../model/instance.ts";
import type { LogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type { TaskKind } from "../../model/task.ts";
import { endsWait, type OpenWait, type SentEvent } from "../../model/wait-match.ts";
import type { Ending } from "./ending.ts";
import { isLeased } from "./lane.ts";
import { canBeWoken, ended, extended, fencedOff, givenBack, madeDue } from "./moves.ts";
import type { RunRow } from "./run-row.ts";
import type { WorkingInstance } from "./working-set.ts";

export interface KnownWait extends OpenWait {
  readonly topic: string | null;
}

export interface BufferedEvent extends SentEvent {
  readonly seq: number;
  readonly system: boolean;
}

export interface TakenEvent extends BufferedEvent {
  readonly consumedBy: string;
}

interface Consumption {
  readonly stepKey: string;
  readonly at: number;
}

export type NewEvent = Omit<EventRecord, "deliveredAt" | "consumedBy">;

/**
 * Where a run's steps and events are looked up the first time that a rule asks for them. For stores to which a look costs
 * nothing; those that pay for it read ahead what `needsOf` names and fill the maps. What is given is the batch's to change.
 */
export interface RunShelf {
  waits(): Map<number, KnownWait>;
  /** What the step would replace has settled. False will do for one that settles, if saving replaces waits only. */
  hasSettled(step: StepRecord): boolean;
  undelivered(): Map<number, BufferedEvent>;
  /** Those of them that are not the engine's own. */
  countBuffered(): number;
  takenBy(stepKeys: readonly string[]): Iterable<TakenEvent>;
  idOfEvent(seq: number): string | undefined;
}

export class WorkingRun {
  readonly row: RunRow;
  readonly instance: WorkingInstance;
  readonly isNew: boolean;
  isChanged = false;

  readonly shelf: RunShelf | null;
  #waits: Map<number, KnownWait> | undefined;
  #undelivered: Map<number, BufferedEvent> | undefined;

  #settled: Set<number> | null = null;
  #stepPuts: Map<number, StepRecord> | null = null;
  #stepDrops: Set<number> | null = null;
  #shifts: Map<number, number> | null = null;
  /** Whether the run's waits count as open has changed with the run itself. */
  opening: "close" | "reopen" | null = null;

  #taken: Map<number, TakenEvent> | null = null;
  #heard: Map<number, string> | null = null;
  readonly newEvents: NewEvent[] = [];
  #consumed: Map<number, Consumption> | null = null;
  #released: Set<number> | null = null;

  readonly logs: { readonly seq: number; readonly line: LogLine }[] = [];
  ending: { readonly ending: Ending; readonly at: number } | null = null;
  /** The ending that was recorded before is void. */
  forgetsEnding = false;

  constructor(row: RunRow, instance: WorkingInstance, isNew: boolean, shelf: RunShelf | null = null) {
    this.row = row;
    this.instance = instance;
    this.isNew = isNew;
    this.shelf = shelf;
  }

  /** Steps known to wait, those of ended runs included. */
  get waits(): Map<number, KnownWait> {
    this.#waits ??= this.#lookUpWaits();
    return this.#waits;
  }

  #lookUpWaits(): Map<number, KnownWait> {
    const waits: Map<number, KnownWait> = this.shelf?.waits() ?? new Map();
    if (this.#stepDrops !== null) for (const index of this.#stepDrops) waits.delete(index);
    if (this.#stepPuts !== null) for (const step of this.#stepPuts.values()) noteWait(waits, step);
    return waits;
  }

  get undelivered(): Map<number, BufferedEvent> {
    if (this.#undelivered === undefined) {
      this.#undelivered = this.shelf?.undelivered() ?? new Map();
      for (const event of this.newEvents) this.#undelivered.set(event.seq, event);
      if (this.#consumed !== null)
        for (const [seq, { stepKey }] of this.#consumed) this.#take(this.#undelivered, seq, stepKey);
    }
    return this.#undelivered;
  }

  /** Steps known to have settled. */
  get settled(): Set<number> {
    this.#settled ??= new Set();
    return this.#settled;
  }

  /** Events known to be taken. */
  get taken(): Map<number, TakenEvent> {
    this.#taken ??= new Map();
    return this.#taken;
  }

  /** Ids by sequence, of events that a commit builds on. */
  get heard(): Map<number, string> {
    this.#heard ??= new Map();
    return this.#heard;
  }

  // Most requests make none of these, and the maps would cost more than applying them.

  get stepPuts(): ReadonlyMap<number, StepRecord> {
    return this.#stepPuts ?? noEntries;
  }

  get stepDrops(): ReadonlySet<number> {
    return this.#stepDrops ?? noNumbers;
  }

  get shifts(): ReadonlyMap<number, number> {
    return this.#shifts ?? noEntries;
  }

  get consumed(): ReadonlyMap<number, Consumption> {
    return this.#consumed ?? noEntries;
  }

  get released(): ReadonlySet<number> {
    return this.#released ?? noNumbers;
  }

  idOfEvent(seq: number): string | undefined {
    return this.#heard?.get(seq) ?? this.shelf?.idOfEvent(seq);
  }

  get isLeased(): boolean {
    return isLeased(this.row.lane);
  }

  get hasEnded(): boolean {
    return isTerminal(this.row.status);
  }

  change(facts: Partial<RunRow>): void {
    Object.assign(this.row, facts);
    this.isChanged = true;
  }

  // ---------------------------------------------------------------------------------------------- steps

  /** What has settled never changes. */
  putStep(step: StepRecord): void {
    if (this.#hasSettled(step)) return;
    this.#stepPuts ??= new Map();
    this.#stepPuts.set(step.index, step);
    this.#shifts?.delete(step.index);
    if (step.status !== "waiting") this.settled.add(step.index);
    if (this.#waits !== undefined) noteWait(this.#waits, step);
  }

  #hasSettled(step: StepRecord): boolean {
    if (this.#settled?.has(step.index)) return true;
    return !this.stepDrops.has(step.index) && this.shelf?.hasSettled(step) === true;
  }

  dropStep(index: number): void {
    this.#stepPuts?.delete(index);
    this.#shifts?.delete(index);
    this.#waits?.delete(index);
    this.#settled?.delete(index);
    if (this.isNew) return;
    this.#stepDrops ??= new Set();
    this.#stepDrops.add(index);
  }

  /** Every wait ends later by so much. */
  shiftWaits(ms: number): void {
    this.#shifts ??= new Map();
    for (const [index, wait] of this.waits) {
      const wakeAt = wait.wakeAt + ms;
      const put = this.#stepPuts?.get(index);
      this.waits.set(index, { ...wait, wakeAt });
      if (put?.status === "waiting") this.#stepPuts?.set(index, { ...put, wakeAt });
      else this.#shifts.set(index, wakeAt);
    }
  }

  // ---------------------------------------------------------------------------------------------- events

  /** True when the run was waiting for the event and is due now. */
  accept(given: Omit<NewEvent, "seq">, now: number): boolean {
    const seq = this.row.eventSeq + 1;
    this.change({ eventSeq: seq });
    const event = { ...given, seq };
    this.newEvents.push(event);
    this.#undelivered?.set(seq, event);
    if (!canBeWoken(this.row) || !this.isAwaited(given)) return false;
    this.makeDue("wake", now);
    return true;
  }

  isAwaited(event: SentEvent): boolean {
    for (const wait of this.waits.values()) if (endsWait(event, wait)) return true;
    return false;
  }

  /** An undelivered event above `seqSeen` is there for one of its waits. */
  hasAwaitedEvent(seqSeen: number): boolean {
    return this.row.eventSeq > seqSeen && this.hasEventFor(this.waits.values(), seqSeen);
  }

  /** The same for the waits given. */
  hasEventFor(waits: Iterable<OpenWait>, seqSeen: number): boolean {
    if (this.row.eventSeq <= seqSeen) return false;
    for (const wait of waits) {
      for (const event of this.undelivered.values()) {
        if (event.seq > seqSeen && endsWait(event, wait)) return true;
      }
    }
    return false;
  }

  /** The wait has its event already, though nobody has resumed it yet. */
  isSpokenFor(key: string): boolean {
    for (const event of this.undelivered.values()) if (event.forStep === key) return true;
    return false;
  }

  countBuffered(): number {
    const isAsStored = this.#undelivered === undefined && this.newEvents.length + this.consumed.size === 0;
    if (isAsStored && this.shelf !== null) return this.shelf.countBuffered();
    let count = 0;
    for (const event of this.undelivered.values()) if (!event.system) count += 1;
    return count;
  }

  consume(seq: number, stepKey: string, at: number): void {
    // One that is not there yet is not meant: the next event of this batch may get that very number.
    if (this.consumed.has(seq) || seq > this.row.eventSeq) return;
    this.#consumed ??= new Map();
    this.#consumed.set(seq, { stepKey, at });
    if (this.#undelivered !== undefined) this.#take(this.#undelivered, seq, stepKey);
  }

  #take(undelivered: Map<number, BufferedEvent>, seq: number, consumedBy: string): void {
    const event = undelivered.get(seq);
    if (event !== undefined) this.taken.set(seq, { ...event, consumedBy });
    undelivered.delete(seq);
  }

  /** Events these steps took are undelivered again. */
  releaseEvents(stepKeys: readonly string[]): void {
    if (stepKeys.length === 0) return;
    const { undelivered } = this;
    for (const event of this.shelf?.takenBy(stepKeys) ?? []) {
      const { seq } = event;
      if (!this.taken.has(seq) && !undelivered.has(seq)) this.taken.set(seq, event);
    }
    for (const [seq, { stepKey }] of this.consumed)
      if (stepKeys.includes(stepKey)) this.#consumed?.delete(seq);
    this.#released ??= new Set();
    for (const [seq, { consumedBy, ...event }] of this.taken) {
      if (!stepKeys.includes(consumedBy)) continue;
      this.taken.delete(seq);
      undelivered.set(seq, event);
      this.#released.add(seq);
    }
  }

  // ---------------------------------------------------------------------------------------------- moves

  addLogs(lines: readonly LogLine[]): void {
    if (lines.length === 0) return;
    const { logSeq } = this.row;
    for (const [n, line] of lines.entries()) this.logs.push({ seq: logSeq + 1 + n, line });
    this.change({ logSeq: logSeq + lines.length });
  }

  extendLease(until: number): void {
    this.change(extended(this.row, until));
  }

  giveBack(kind: TaskKind, dueAt: number): void {
    this.change(givenBack(this.row.status, kind, dueAt));
  }

  makeDue(kind: TaskKind, now: number): void {
    this.change(madeDue(this.row, kind, now));
  }

  end(ending: Ending, now: number): void {
    this.change(ended(ending, this.instance.retentionMs, now));
    this.ending = { ending, at: now };
    this.opening = "close";
  }

  /** Ended from outside. */
  endByForce(ending: Ending, now: number): void {
    this.change(fencedOff(this.row));
    this.end(ending, now);
  }

  /** The run goes on after all. */
  goOnAfterEnd(): void {
    this.ending = null;
    this.forgetsEnding = !this.isNew;
    this.opening = "reopen";
  }
}

const noEntries: ReadonlyMap<number, never> = new Map<number, never>();
const noNumbers: ReadonlySet<number> = new Set();

function noteWait(waits: Map<number, KnownWait>, step: StepRecord): void {
  if (step.status === "waiting") waits.set(step.index, step);
  else waits.delete(step.index);
}
