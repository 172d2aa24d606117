/**
 * The steps of a turn that have not come to their end: decided when their time has come, gated until what was written
 * before them is durable, run, parked, and given to the turn as settlements when they are over.
 */
import { encodeValue } from "../authoring/codec.ts";
import { WaitForEventTimeoutError } from "../authoring/errors.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { StepContext } from "../authoring/workflow-step.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody } from "../model/instance.ts";
import type { StepRecord, WaitingStep } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";
import { attemptOutcome } from "./attempt-outcome.ts";
import { Body, type BodyOutcome } from "./body.ts";
import { BodyTimeouts } from "./body-timeouts.ts";
import type { Call } from "./call.ts";
import type { CallRegister } from "./call-register.ts";
import { CutOff } from "./cut-off.ts";
import { type Decision, decide } from "./decide.ts";
import type { Draft } from "./draft.ts";
import { type HandOver, mutationsFor, plain, type Settlement } from "./hand-over.ts";
import { InFlight } from "./in-flight.ts";
import type { Inbox } from "./inbox.ts";
import { receivedFrom, receivedValue } from "./received-event.ts";
import { type AttemptOutcome, type SettlementDraft, settle } from "./settle.ts";
import { added, none } from "./short-list.ts";
import { baseOf, earliestWake, inOrderOfTime, wakeOf } from "./step-base.ts";
import { contextOf } from "./step-context.ts";
import type { StepOptions } from "./step-options.ts";
import type { Turn } from "./turn.ts";
import { cutOffByCrash } from "./turn-errors.ts";
import type { TurnHost } from "./turn-host.ts";

export interface OpenStepsParts {
  readonly turn: Turn;
  readonly host: TurnHost;
  readonly register: CallRegister;
  readonly draft: Draft;
  readonly handOver: HandOver;
  readonly inbox: Inbox;
  /** Bodies that were in flight when the run was last heard of. */
  readonly interrupted: readonly BegunBody[];
  /** Turns in a row before this one that were cut off before they recorded anything. */
  readonly crashes: number;
  /** A step came to its end. */
  readonly onSettled: (settlement: Settlement) => void;
  /** A call is answered by what is recorded. */
  readonly onRecorded: (call: Call) => void;
  /** An attempt failed and there will be another. */
  readonly onAttemptFailed: (call: Call, record: WaitingStep) => void;
  /** Something changed that the pump should look at. */
  readonly onChange: () => void;
  /** No more bodies may start in this tick. */
  readonly onBudgetSpent: () => void;
}

export class OpenSteps {
  readonly #parts: OpenStepsParts;
  readonly #inFlight = new InFlight();
  readonly #timeouts: BodyTimeouts;
  readonly #cutOff: CutOff;
  /** Calls in the order they were made, not decided yet. */
  #asked: readonly Call[] = none;
  /** Calls that wait for a time or an event. */
  /** Waits that are neither open nor over for a moment. */
  #withdrawn = 0;
  #parked: readonly Call[] = none;
  #budgetSpent = false;
  /** The next body waits for one more commit, even if everything written is durable. */
  askFirst = false;

  constructor(parts: OpenStepsParts) {
    this.#parts = parts;
    this.#timeouts = new BodyTimeouts(parts.host.runtime, () => this.#inFlight.running);
    this.#cutOff = new CutOff(parts.interrupted);
  }

  get isQuiet(): boolean {
    return this.#inFlight.isEmpty && this.#asked.length === 0 && this.#withdrawn === 0;
  }

  /** Bodies run, and nothing else is open. */
  get hasOnlyBodies(): boolean {
    return this.#inFlight.hasOnlyRunning && this.#asked.length === 0 && this.#parked.length === 0;
  }

  get hasAsked(): boolean {
    return this.#asked.length > 0;
  }

  /** Steps somebody asked for that will not come to their end in this turn: running, or never begun. */
  get unfinished(): readonly string[] {
    return [...this.#inFlight.names, ...this.#asked.map((call) => call.name)];
  }

  get hasParked(): boolean {
    return this.#parked.length > 0;
  }

  get inFlight(): InFlight {
    return this.#inFlight;
  }

  /** Bodies a crash would cut off once everything up to this write is durable, and these records with it. */
  begunBeyond(write: number, records: readonly StepRecord[]): readonly BegunBody[] {
    const begun = this.#inFlight.begunBeyond(write, records);
    const cutOff = this.#cutOff.beyond(records);
    return cutOff.length === 0 ? begun : [...cutOff, ...begun];
  }

  /** Starts that the next turn must know of when this one ends with these records: what still runs is cut off by that. */
  leftBy(records: readonly StepRecord[]): readonly BegunBody[] {
    return [...this.#cutOff.beyond(records), ...this.#inFlight.begunOnceBeyond(records)];
  }

  /** These records are durable. */
  recorded(records: readonly StepRecord[]): void {
    this.#inFlight.recorded(records);
    this.#cutOff.recorded(records);
  }

  get earliestWake(): number {
    return earliestWake(this.#parked);
  }

  /** What the earliest wake will be: the next attempt of a step, or anything else. */
  get nextTask(): "retry" | "wake" {
    const wake = this.earliestWake;
    return this.#parked.some((call) => call.type === "do" && wakeOf(call) === wake) ? "retry" : "wake";
  }

  /** Every step that is open waits for an attempt that would come after this time. */
  allRetryAfter(time: number): boolean {
    return this.hasParked && this.#parked.every((call) => call.type === "do" && wakeOf(call) > time);
  }

  ask(call: Call): void {
    this.#asked = added(this.#asked, call);
  }

  /** Decides what was asked and looks at what is parked. */
  decideAll(): void {
    this.#budgetSpent = false;
    if (this.#asked.length + this.#parked.length === 0) return;
    const now = this.#now();
    const asked = this.#asked;
    this.#asked = none;
    this.#decideAsked(this.#decideParked(asked, now), now);
  }

  /** Gives those that are left to decide. */
  #decideParked(asked: readonly Call[], now: number): readonly Call[] {
    if (this.#parked.length === 0 && !asked.some(isRecordedWait)) return asked;
    // Waits that are recorded are decided like those this turn parked itself: after a crash time decides, as before it.
    const parked = [...this.#parked, ...asked.filter(isRecordedWait)];
    const others = asked.filter((call) => !isRecordedWait(call));
    this.#parked = none;
    for (const call of inOrderOfTime(parked)) if (!call.parent?.isVoid) this.#decide(call, now);
    return others;
  }

  #decideAsked(asked: readonly Call[], now: number): void {
    for (const call of asked) {
      if (this.#budgetSpent || this.#isCrowded(call)) this.ask(call);
      else if (!call.parent?.isVoid) this.#decide(call, now);
    }
  }

  /** Bodies that were not started are for the next turn. */
  putBackGated(): void {
    for (const call of this.#inFlight.takeGated()) this.ask(call);
  }

  /** No body is to be watched any more. */
  clearTimeouts(): void {
    this.#timeouts.clear();
  }

  startReleased(): void {
    for (const body of this.#inFlight.takeReleased(this.#parts.handOver.durable)) this.#start(body);
  }

  /** Their timeouts were refused. Until the events are read that they have to take, nothing may rest without them. */
  withdraw(calls: readonly Call[]): void {
    this.#withdrawn += calls.length;
  }

  /** Waits whose timeouts were refused are open again. */
  reopen(calls: readonly Call[]): void {
    this.#withdrawn -= calls.length;
    for (const call of calls) this.#park(call);
  }

  /** The writes of a body that was through were refused: as if it had thrown, with the same retries and delays. */
  failAfterAll(body: Body, thrown: unknown): void {
    const { shown } = body.call.spec.options as StepOptions;
    this.#inFlight.add(body);
    this.#bodyDone(body, contextOf(body, shown, this.#parts.turn), { ok: false, error: thrown });
  }

  fail(call: Call, error: StoredError): void {
    const now = this.#now();
    const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
    this.#parts.onSettled({ call, draft, ...plain });
  }

  // ---------------------------------------------------------------------------------------------- deciding

  #now(): number {
    return this.#parts.host.runtime.now();
  }

  /** Too many bodies at once are not a mistake; the others wait their turn. */
  #isCrowded(call: Call): boolean {
    const { parallelStepsMax } = this.#parts.turn.definition.limits;
    return call.type === "do" && call.parent === null && this.#inFlight.size >= parallelStepsMax;
  }

  #decide(call: Call, now: number): void {
    const { host, register, inbox, onChange } = this.#parts;
    let decision: Decision;
    try {
      decision = decide(call, call.record, inbox.events, now);
    } catch (error) {
      // Another type than recorded: the author hears of it; history stays as it is.
      if (call.parent) call.parent.openCalls--;
      register.forget(call);
      call.reject(error);
      return onChange();
    }
    call.index ??= register.indexOf(call);
    // A rehearsal goes no further than what is recorded.
    if (host.rehearsal && decision.kind !== "settled") return this.#park(call);
    this.#act(call, decision, now);
  }

  #act(call: Call, decision: Decision, now: number): void {
    switch (decision.kind) {
      case "settled":
        return this.#parts.onRecorded(call);
      case "attempt":
        return this.#attempt(call, now);
      case "wait":
        return this.#wait(call, decision.until, now);
      case "wake":
        return this.#completeWait(call, nothing, decision.skippedBy, now);
      case "consume":
        return this.#consume(call, decision.event, now);
      case "timeout":
        return this.#timeOut(call, decision.wait, now);
      case "exhausted":
        return this.fail(call, decision.wait.errors.at(-1)?.error ?? retriesExhausted);
    }
  }

  // ---------------------------------------------------------------------------------------------- waits

  #wait(call: Call, until: number, now: number): void {
    if (!call.record) {
      const waitsFor = call.type === "sleep" ? "timer" : "event";
      this.#write(call, { ...baseOf(call, now), status: "waiting", waitsFor, wakeAt: until });
    }
    this.#park(call);
  }

  #park(call: Call): void {
    call.state = "parked";
    this.#parked = added(this.#parked, call);
  }

  #write(call: Call, record: WaitingStep): void {
    const { register, draft, handOver } = this.#parts;
    call.record = record;
    register.waits(call, record);
    draft.step(record);
    handOver.writes++;
  }

  #completeWait(call: Call, result: EncodedValue, event: EventRecord | null, now: number): void {
    if (event) this.#parts.inbox.take(event);
    this.#parts.onSettled({ call, draft: completedWait(call, result, now), ...plain, event });
  }

  #consume(call: Call, event: EventRecord, now: number): void {
    if (!call.spec.onConsume) return this.#completeWait(call, receivedValue(event), event, now);
    // The author's hook runs like a body: it waits for what was written before it, may write with the consumption, and
    // if it fails the event stays.
    this.#parts.inbox.take(event);
    this.#startWhenDurable(new Body(call, 1, now, event));
  }

  #timeOut(call: Call, wait: WaitingStep, now: number): void {
    const { eventType, topic } = wait;
    const timeoutMs = wait.wakeAt - wait.createdAt;
    const awaited = { eventType: eventType ?? undefined, topic: topic ?? undefined, timeoutMs };
    const error = toStoredError(new WaitForEventTimeoutError(call.name, awaited));
    const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
    const eventSeqSeen = this.#parts.inbox.seq;
    this.#parts.onSettled({ call, draft, ...plain, timeout: wait, eventSeqSeen, needsCommit: true });
  }

  // ---------------------------------------------------------------------------------------------- bodies

  #attempt(call: Call, now: number): void {
    const { host, turn, handOver, onBudgetSpent } = this.#parts;
    const mustNotRepeat = call.spec.options?.failWhenInterrupted === true;
    const recorded = call.record?.starts ?? 0;
    const cutOff = this.#cutOff.startOf(call.key);
    if (mustNotRepeat && cutOff > recorded) return this.fail(call, toStoredError(cutOffByCrash(call.name)));
    // A body inside another counts too but is never held back: the outer one could not come to its end without it, and
    // the next tick would spend its steps the same way.
    if (!host.takeStep(turn) && call.parent === null) {
      this.ask(call);
      this.#budgetSpent = true;
      return onBudgetSpent();
    }
    const unseen = mustNotRepeat ? 0 : this.#unseenStarts();
    const body = new Body(call, Math.max(recorded + unseen, cutOff) + 1, now);
    // Bodies wait for every write that exists now; one that must not repeat waits for its own start to be recorded too.
    if (mustNotRepeat) handOver.writes++;
    this.#startWhenDurable(body);
  }

  /** A body that waits for no write began in every turn that was cut off before its first, though nothing names it. */
  #unseenStarts(): number {
    const { handOver, crashes } = this.#parts;
    return handOver.writes === 0 ? crashes : 0;
  }

  #startWhenDurable(body: Body): void {
    const { handOver } = this.#parts;
    if (this.askFirst) handOver.writes++;
    this.askFirst = false;
    if (handOver.writes <= handOver.durable) this.#start(body);
    else this.#inFlight.gate(body, handOver.writes);
  }

  #start(body: Body): void {
    if (body.event) return this.#startHook(body, body.event);
    const options = body.call.spec.options;
    if (!options) return;
    this.#cutOff.takeUp(body.call.key);
    const context = contextOf(body, options.shown, this.#parts.turn);
    const work = (): unknown => body.call.spec.callback?.(context);
    this.#run(body, work, options.timeoutMs, (outcome) => this.#bodyDone(body, context, outcome));
  }

  #startHook(body: Body, event: EventRecord): void {
    const { onConsume, name } = body.call.spec;
    const { shown, timeoutMs } = this.#parts.turn.options.resolve(undefined, name);
    const context = contextOf(body, shown, this.#parts.turn);
    // The hook has an event of its own: what it does to it is not what the wait received.
    const work = (): unknown => onConsume?.(receivedFrom(event), context);
    this.#run(body, work, timeoutMs, (outcome) => this.#hookDone(body, event, outcome));
  }

  #run(body: Body, work: () => unknown, timeoutMs: number, done: (outcome: BodyOutcome) => void): void {
    const { host, turn } = this.#parts;
    this.#inFlight.add(body);
    this.#timeouts.watch(body, timeoutMs);
    void host.scope.run<Promise<void>>({ turn, body }, () => body.run(work, done));
  }

  #bodyDone(body: Body, context: StepContext, outcome: BodyOutcome): void {
    const { turn, host } = this.#parts;
    const attempted = attemptOutcome(outcome, body, context, turn.definition, host.runtime);
    // Almost always decided at once; only an author's own delay function takes time, and it holds the turn open.
    if (attempted instanceof Promise) void attempted.then((decided) => this.#attempted(body, decided));
    else this.#attempted(body, attempted);
  }

  #attempted(body: Body, decided: AttemptOutcome): void {
    const { turn, onSettled, onAttemptFailed, onChange } = this.#parts;
    const { call } = body;
    if (turn.state !== "open" || !this.#inFlight.remove(body)) return;
    this.#cutOffInside(body);
    const record = settle(baseOf(call, body.startedAt, body.start), decided, this.#now());
    if (record.status !== "waiting") {
      const needsCommit = mutationsFor(body, record) !== null;
      return onSettled({ call, draft: record, ...plain, body, needsCommit });
    }
    this.#write(call, record);
    this.#park(call);
    onAttemptFailed(call, record);
    onChange();
  }

  /** What a body that is over left running. An event whose hook was cut off was not taken after all. */
  #cutOffInside(body: Body): void {
    const { inbox, handOver } = this.#parts;
    // Nearly always there is nothing inside.
    if (body.openCalls > 0)
      for (const inner of this.#inFlight.cancelInside(body)) {
        if (inner.call.state === "running" && inner.mustNotRepeat) this.#cutOff.add(inner.begun);
        if (inner.event) inbox.putBack(inner.event);
      }
    if (handOver.isEmpty) return;
    for (const { body: inner, event } of handOver.dropInside(body)) {
      if (inner?.mustNotRepeat) this.#cutOff.add(inner.begun);
      if (event) inbox.putBack(event);
    }
  }

  #hookDone(body: Body, event: EventRecord, outcome: BodyOutcome): void {
    const { turn, inbox, onSettled } = this.#parts;
    if (turn.state !== "open" || !this.#inFlight.remove(body)) return;
    this.#cutOffInside(body);
    const { call } = body;
    if (!outcome.ok) {
      inbox.putBack(event);
      return this.fail(call, toStoredError(outcome.error));
    }
    const draft = completedWait(call, receivedValue(event), this.#now());
    onSettled({ call, draft, ...plain, body, event, needsCommit: body.mutations !== null });
  }
}

const retriesExhausted: StoredError = { name: "Error", message: "Retries exhausted." };

function isRecordedWait({ type, record }: Call): boolean {
  return type !== "do" && record?.status === "waiting";
}

/** What a sleep comes to. */
const nothing: EncodedValue = encodeValue(undefined, "result");

function completedWait(call: Call, result: EncodedValue, now: number): SettlementDraft {
  return { ...baseOf(call, now), status: "completed", result, settledAt: now };
}
