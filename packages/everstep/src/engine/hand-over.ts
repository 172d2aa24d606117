import type { EventRecord } from "../model/event.ts";
import type { Mutations } from "../model/mutations.ts";
import type { ErroredStep, SettledStep, StepRecord, WaitingStep } from "../model/step.ts";
import type { Body } from "./body.ts";
import type { Call } from "./call.ts";
import type { Draft } from "./draft.ts";
import type { Durability } from "./durability.ts";
import type { SettlementDraft } from "./settle.ts";
import { added, none } from "./short-list.ts";

/** A step that came to its end in this turn and waits to be handed to the code that asked for it. Belongs to one queue. */
export interface Settlement {
  readonly call: Call;
  draft: SettlementDraft;
  readonly body: Body | null;
  /** The event the wait (or the skipped sleep) takes. */
  readonly event: EventRecord | null;
  /** The wait that timed out, and the newest event that was known when that was decided. */
  readonly timeout: WaitingStep | null;
  readonly eventSeqSeen: number;
  /** Handed over only once it is durable, because the commit may refuse it. */
  readonly needsCommit: boolean;
  /** What was recorded of the step before. */
  before: StepRecord | undefined;
  /** Set once it has its place in the order and is part of a draft. */
  record: SettledStep | null;
  /** The write that makes it durable. */
  gate: number;
}

/** A settlement nothing else hangs on. */
export const plain = {
  body: null,
  event: null,
  timeout: null,
  eventSeqSeen: 0,
  needsCommit: false,
  before: undefined,
  record: null,
  gate: 0,
} as const satisfies Partial<Settlement>;

/**
 * The order in which settlements reach author code. It decides every race, so it is written down (`settledIndex`) and
 * the same live and on replay: recorded ones first and in their recorded order, then new ones as they finished.
 */
export class HandOver {
  readonly #draft: Draft;
  readonly #durability: Durability;
  #nextIndex: number;
  /** Calls with a recorded settlement that was not handed over yet. */
  readonly #owed: Call[] = [];
  /** The same inside of bodies. */
  #owedInside: Call[] = [];
  /** Finished in this turn, in order of finishing. */
  #ready: readonly Settlement[] = none;
  /** Nested ones go to the body that asked as soon as they are durable. */
  #nested: Settlement[] = [];

  constructor(draft: Draft, durability: Durability, nextIndex: number) {
    this.#draft = draft;
    this.#durability = durability;
    this.#nextIndex = nextIndex;
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0 && this.#nested.length === 0 && this.#owedInside.length === 0;
  }

  get owes(): boolean {
    return this.#owed.length > 0;
  }

  owe(call: Call): void {
    call.state = "owed";
    (call.parent === null ? this.#owed : this.#owedInside).push(call);
  }

  /** Takes a settlement in; true when it is next and may be handed over at once. */
  add(settlement: Settlement): boolean {
    settlement.call.state = "settling";
    settlement.before = settlement.call.record;
    if (settlement.call.parent !== null && !settlement.needsCommit) {
      this.#place(settlement);
      this.#nested.push(settlement);
      return false;
    }
    this.#ready = added(this.#ready, settlement);
    return this.#ready.length === 1 && !this.owes;
  }

  /** The next settlement that may be handed over now; placing one that needs a commit is left to `flush`. */
  next(flush: () => void): { readonly call: Call; readonly record: SettledStep } | null {
    const owed = takeFirst(this.#owed);
    if (owed) return { call: owed, record: owed.record as SettledStep };
    const first = this.#ready[0];
    if (!first) return null;
    if (first.record === null) {
      if (first.needsCommit && this.#draft.hasMutations) return null;
      this.#place(first);
      if (first.needsCommit) flush();
    }
    if (this.#awaitsCommit(first)) return null;
    this.#ready = this.#ready.length === 1 ? none : this.#ready.slice(1);
    return { call: first.call, record: first.record as unknown as SettledStep };
  }

  /**
   * The next settlement for a body: what an earlier attempt of it recorded, in that order, then what has become durable.
   * What a body asked for that is void is nobody's.
   */
  nextInside(): { readonly call: Call; readonly record: SettledStep } | null {
    if (this.#owedInside.length > 0) {
      this.#owedInside = this.#owedInside.filter(({ parent }) => !parent?.isVoid);
    }
    const owed = takeFirst(this.#owedInside);
    if (owed) return { call: owed, record: owed.record as SettledStep };
    const first = this.#firstInside();
    if (first === undefined || first.gate > this.#durability.durable) return null;
    this.#nested = this.#nested.filter((settlement) => settlement !== first);
    this.#ready = this.#ready.filter((settlement) => settlement !== first);
    return { call: first.call, record: first.record as SettledStep };
  }

  /** Those whose commit may be refused got their places from another queue; the order is one. */
  #firstInside(): Settlement | undefined {
    const refusable = this.#ready.find(({ call, record }) => call.parent !== null && record !== null);
    const first = this.#nested[0];
    if (first === undefined || refusable === undefined) return refusable ?? first;
    return refusable.gate < first.gate ? refusable : first;
  }

  /**
   * Writes down what finished without handing it over: it keeps its place, should the turn go on after all. True while
   * something still waits for its commit.
   */
  placeAll(): boolean {
    for (const settlement of this.#ready) {
      if (settlement.record !== null) continue;
      // Nothing overtakes it: the order of places is the one of hand-over.
      if (settlement.needsCommit && this.#draft.hasMutations) return true;
      this.#place(settlement);
    }
    return this.#ready.some((settlement) => this.#awaitsCommit(settlement));
  }

  #awaitsCommit({ needsCommit, gate }: Settlement): boolean {
    return needsCommit && gate > this.#durability.durable;
  }

  /** Timeouts that have no place yet: gives the calls back, open again. */
  takeTimeouts(): readonly Call[] {
    const isOpen = ({ timeout, record }: Settlement): boolean => timeout !== null && record === null;
    const open = this.#ready.filter(isOpen);
    if (open.length > 0) this.#ready = this.#ready.filter((settlement) => !isOpen(settlement));
    return open.map(({ call }) => call);
  }

  /** What finished joins the last commit of a run, except what that commit could be refused for. */
  placeFinished(): void {
    for (const settlement of this.#ready) {
      if (settlement.record === null && !settlement.needsCommit) this.#place(settlement);
    }
  }

  /** What finished inside a body that is over and has no place yet never counted; gives what that was. */
  dropInside(body: Body): readonly Settlement[] {
    if (this.#ready.length === 0) return none;
    const isDropped = ({ call, record }: Settlement): boolean => record === null && isInside(call, body);
    const dropped = this.#ready.filter(isDropped);
    if (dropped.length > 0) this.#ready = this.#ready.filter((settlement) => !isDropped(settlement));
    return dropped;
  }

  /** The store refused timeouts because events are there: gives the calls back, open again. */
  withdrawTimeouts(): readonly Call[] {
    const refused = [...this.#ready, ...this.#nested].filter(
      ({ timeout, record }) => timeout && record !== null,
    );
    this.#ready = this.#ready.filter((settlement) => !refused.includes(settlement));
    this.#nested = this.#nested.filter((settlement) => !refused.includes(settlement));
    for (const { call, timeout } of refused) call.record = timeout as WaitingStep;
    return refused.map(({ call }) => call);
  }

  /** The settlement whose mutations are in the commit under way. */
  get #mutated(): Settlement | undefined {
    return this.#ready.find(
      (settlement) =>
        settlement.record !== null && settlement.body !== null && this.#awaitsCommit(settlement),
    );
  }

  /** Its mutations were applied: now it is known how its attempt ended. */
  tellMutated(): void {
    const applied = this.#mutated;
    applied?.body?.watch?.settled(applied.draft);
  }

  /** Its mutations were refused; gives it, with the call's record as it was before. */
  withdrawMutated(): Settlement | null {
    const failed = this.#mutated;
    if (!failed) return null;
    this.#ready = this.#ready.filter((settlement) => settlement !== failed);
    failed.call.record = failed.before;
    return failed;
  }

  /** What was placed has failed after all, before it was handed over; null when it had been handed over. */
  replace(record: ErroredStep): Settlement | null {
    const isPlaced = (settlement: Settlement): boolean => settlement.record?.index === record.index;
    const placed = [...this.#ready, ...this.#nested].find(isPlaced);
    if (placed === undefined) return null;
    placed.draft = { ...record };
    placed.record = record;
    placed.call.record = record;
    return placed;
  }

  #place(settlement: Settlement): void {
    const { call, draft, event, timeout, eventSeqSeen, body } = settlement;
    // The draft is this settlement's own and becomes its record; copying it would cost every step an object.
    const record: SettledStep = Object.assign(draft, { settledIndex: this.#nextIndex++ });
    settlement.record = record;
    call.record = record;
    if (timeout) this.#draft.timeout({ wait: timeout, settled: record }, eventSeqSeen);
    else this.#draft.step(record);
    if (event) this.#draft.consume({ seq: event.seq, stepKey: call.key });
    if (body) this.#placeAlongside(body, record);
    settlement.gate = this.#durability.write();
  }

  #placeAlongside(body: Body, record: SettledStep): void {
    const mutations = mutationsFor(body, record);
    if (mutations) this.#draft.mutations(mutations, record.index);
    if (record.status === "completed") this.#draft.alongside(body.alongside);
  }
}

function isInside({ parent }: Call, body: Body): boolean {
  return parent !== null && (parent === body || isInside(parent.call, body));
}

/** What the author wants written with this outcome of the body. */
export function mutationsFor(body: Body, record: { readonly status: string }): Mutations | null {
  if (record.status === "completed") return body.mutations;
  return body.onTerminalError.length === 0 ? null : { serviceCalls: [], mutate: body.onTerminalError };
}

/** Takes out the call that was settled first. */
function takeFirst(owed: Call[]): Call | null {
  let first: Call | null = null;
  for (const call of owed) {
    if (first === null || settledIndexOf(call) < settledIndexOf(first)) first = call;
  }
  if (first) owed.splice(owed.indexOf(first), 1);
  return first;
}

function settledIndexOf(call: Call): number {
  return (call.record as SettledStep).settledIndex;
}
