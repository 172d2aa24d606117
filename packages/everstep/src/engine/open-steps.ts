import { encodeValue } from "../authoring/codec.ts";
import { WaitForEventTimeoutError } from "../authoring/errors.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { EventRecord } from "../model/event.ts";
import type { WaitingStep } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";
import type { Call } from "./call.ts";
import { type Decision, decide } from "./decide.ts";
import { plain } from "./hand-over.ts";
import { receivedValue } from "./received-event.ts";
import { completedWait, failedStep } from "./settle.ts";
import { added, none } from "./short-list.ts";
import { baseOf, inOrderOfTime } from "./step-base.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<
  TurnParts,
  "run" | "records" | "life" | "schedule" | "inFlight" | "results" | "parked" | "bodies"
>;

/** Decides the steps of a turn that have not come to their end: those that were asked for, and those whose time may have come. */
export class OpenSteps {
  readonly #parts: Parts;
  /** Calls in the order they were made, not decided yet. */
  #asked: readonly Call[] = none;
  #budgetSpent = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get hasAsked(): boolean {
    return this.#asked.length > 0;
  }

  get isQuiet(): boolean {
    const { inFlight, parked } = this.#parts;
    return inFlight.isEmpty && !this.hasAsked && !parked.hasWithdrawn;
  }

  /** Bodies run, and nothing else is open. */
  get hasOnlyBodies(): boolean {
    const { inFlight, parked } = this.#parts;
    return inFlight.hasOnlyRunning && !this.hasAsked && parked.isEmpty;
  }

  /** Steps somebody asked for that will not come to their end in this turn: running, or never begun. */
  get unfinished(): readonly string[] {
    return [...this.#parts.inFlight.names, ...this.#asked.map((call) => call.name)];
  }

  ask(call: Call): void {
    this.#asked = added(this.#asked, call);
  }

  /** Bodies that were not started, and timeouts that were not written down, are to be decided again, in this turn or the next. */
  putBack(): void {
    const { records, inFlight, parked } = this.#parts;
    for (const call of records.handOver.takeTimeouts()) parked.park(call);
    const gated = inFlight.takeGated();
    if (gated.length === 0) return;
    for (const { event } of gated) if (event) records.inbox.putBack(event);
    this.#asked = [...gated.map(({ call }) => call), ...this.#asked];
  }

  /** What is recorded of these waits has changed. */
  waitsMoved(waits: readonly WaitingStep[]): void {
    const { records, parked } = this.#parts;
    for (const wait of waits) records.register.moved(wait);
    for (const call of [...parked.all, ...this.#asked])
      if (call.record?.status === "waiting") call.record = records.register.recordOf(call);
  }

  /** Events were accepted for this run after the turn read them. */
  eventsArrived(): void {
    if (this.#parts.life.isOpen) this.readEvents(() => {});
  }

  /** Reads the events that are newer than those it knows, for the steps that wait for them. */
  readEvents(then: () => void): void {
    const { run, records, schedule } = this.#parts;
    records.inbox.fetch(
      (after) => run.readEvents(after),
      () => {
        then();
        schedule.pump();
      },
    );
  }

  /** Decides what was asked and looks at what is parked. */
  decideAll(): void {
    this.#budgetSpent = false;
    if (!this.hasAsked && this.#parts.parked.isEmpty) return;
    const now = this.#parts.run.now();
    const asked = this.#asked;
    this.#asked = none;
    this.#decideAsked(this.#decideParked(asked, now), now);
  }

  /** Gives those that are left to decide. */
  #decideParked(asked: readonly Call[], now: number): readonly Call[] {
    const { parked } = this.#parts;
    if (parked.isEmpty && !asked.some(isRecordedWait)) return asked;
    // Waits that are recorded are decided like those this turn parked itself: after a crash time decides, as before it.
    const waits = [...parked.take(), ...asked.filter(isRecordedWait)];
    const others = asked.filter((call) => !isRecordedWait(call));
    for (const call of inOrderOfTime(waits)) if (!call.parent?.isVoid) this.#decide(call, now);
    return others;
  }

  #decideAsked(asked: readonly Call[], now: number): void {
    for (const call of asked) {
      if (this.#isHeldBack(call)) this.ask(call);
      else if (!call.parent?.isVoid) this.#decide(call, now);
    }
  }

  /** Too many bodies at once are not a mistake; the others wait their turn. What a body waits for never does. */
  #isHeldBack({ type, parent }: Call): boolean {
    if (parent !== null) return false;
    const { run, inFlight } = this.#parts;
    return this.#budgetSpent || (type === "do" && inFlight.size >= run.definition.limits.maxParallelSteps);
  }

  #decide(call: Call, now: number): void {
    const { run, records, schedule, parked } = this.#parts;
    let decision: Decision;
    try {
      decision = decide(call, call.record, records.inbox.events, now);
    } catch (error) {
      // Another type than recorded: the author hears of it; history stays as it is.
      if (call.parent) call.parent.openCalls--;
      call.reject(error);
      return schedule.pump();
    }
    call.index ??= records.register.indexOf(call);
    // A rehearsal goes no further than what is recorded.
    if (run.isRehearsal && decision.kind !== "settled") return parked.park(call);
    this.#act(call, decision, now);
  }

  #act(call: Call, decision: Decision, now: number): void {
    switch (decision.kind) {
      case "settled":
        return this.#parts.records.handOver.owe(call);
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
        return this.#parts.results.failed(call, decision.wait.errors.at(-1)?.error ?? retriesExhausted);
    }
  }

  #attempt(call: Call, now: number): void {
    if (this.#parts.bodies.attempt(call, now)) return;
    this.ask(call);
    this.#budgetSpent = true;
    // What began may ask for steps inside it. Cut off it would begin again in the next tick, which has no more steps than this one.
    if (this.#parts.inFlight.isEmpty) this.#parts.life.windDown();
  }

  #wait(call: Call, until: number, now: number): void {
    const { parked } = this.#parts;
    if (call.record) return parked.park(call);
    const waitsFor = call.type === "sleep" ? "timer" : "event";
    parked.record(call, { ...baseOf(call, now), status: "waiting", waitsFor, wakeAt: until });
  }

  #completeWait(call: Call, result: EncodedValue, event: EventRecord | null, now: number): void {
    if (event) this.#parts.records.inbox.take(event);
    const draft = completedWait(baseOf(call, now), result, now);
    this.#parts.results.settled({ call, draft, ...plain, event });
  }

  #consume(call: Call, event: EventRecord, now: number): void {
    if (call.spec.onConsume) this.#parts.bodies.consume(call, event, now);
    else this.#completeWait(call, receivedValue(event), event, now);
  }

  #timeOut(call: Call, wait: WaitingStep, now: number): void {
    const { eventType, topic } = wait;
    // A wait of no time may be recorded later than it was over.
    const timeoutMs = Math.max(0, wait.wakeAt - wait.createdAt);
    const awaited = { eventType: eventType ?? undefined, topic: topic ?? undefined, timeoutMs };
    const error = toStoredError(new WaitForEventTimeoutError(call.name, awaited));
    const draft = failedStep(baseOf(call, now), error, now);
    const eventSeqSeen = this.#parts.records.inbox.seq;
    this.#parts.results.settled({ call, draft, ...plain, timeout: wait, eventSeqSeen, needsCommit: true });
  }
}

const retriesExhausted: StoredError = { name: "Error", message: "Retries exhausted." };

function isRecordedWait({ type, record }: Call): boolean {
  return type !== "do" && record?.status === "waiting";
}

/** What a sleep comes to. */
const nothing: EncodedValue = encodeValue(undefined, "result");
