import { toStoredError } from "../authoring/stored-error.ts";
import type { StepContext } from "../authoring/workflow-step.ts";
import type { EventRecord } from "../model/event.ts";
import { attemptOutcome } from "./attempt-outcome.ts";
import { Body, type BodyOutcome } from "./body.ts";
import { BodyTimeouts } from "./body-timeouts.ts";
import type { Call } from "./call.ts";
import { mutationsFor, plain } from "./hand-over.ts";
import { AttemptWatch } from "./observed-attempt.ts";
import { receivedFrom, receivedValue } from "./received-event.ts";
import { type AttemptOutcome, completedWait, settle } from "./settle.ts";
import { baseOf } from "./step-base.ts";
import { contextOf } from "./step-context.ts";
import type { StepOptions } from "./step-options.ts";
import { attemptFailed, cutOffByCrash } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "records" | "life" | "schedule" | "inFlight" | "results" | "parked">;

/**
 * Runs the bodies of steps: each waits until what was written before it is durable, runs, and comes to an end, which is a
 * settlement or a wait for the next attempt.
 */
export class Bodies {
  readonly #parts: Parts;
  readonly #timeouts: BodyTimeouts;
  /** Turns in a row before this one that were cut off before they recorded anything. */
  readonly #crashes: number;
  #asksFirst = false;

  constructor(parts: Parts) {
    const { run, inFlight } = parts;
    this.#parts = parts;
    this.#timeouts = new BodyTimeouts(run.runtime, () => inFlight.running);
    this.#crashes = run.claim.crashCount;
  }

  /** The next body waits for one more commit, even if everything written is durable. */
  askFirst(): void {
    this.#asksFirst = true;
  }

  /** No body is to be watched any more. */
  clearTimeouts(): void {
    this.#timeouts.clear();
  }

  /** False when no more bodies may start in this tick. */
  attempt(call: Call, now: number): boolean {
    const { run, records, inFlight, results } = this.#parts;
    const mustNotRepeat = call.spec.options?.failWhenInterrupted === true;
    const recorded = call.record?.starts ?? 0;
    const cutOff = inFlight.cutOff.startOf(call.key);
    if (mustNotRepeat && cutOff > recorded) {
      results.failed(call, toStoredError(cutOffByCrash(call.name)));
      return true;
    }
    // A body inside another counts too but is never held back: the outer one could not come to its end without it, and
    // the next tick would spend its steps the same way.
    if (!run.takeStep() && call.parent === null) return false;
    const unseen = mustNotRepeat ? 0 : this.#unseenStarts();
    const body = new Body(call, Math.max(recorded + unseen, cutOff) + 1, now);
    // Bodies wait for every write that exists now; one that must not repeat waits for its own start to be recorded too.
    if (mustNotRepeat) records.durability.write();
    this.#startWhenDurable(body);
    return true;
  }

  /** A body that waits for no write began in every turn that was cut off before its first, though nothing names it. */
  #unseenStarts(): number {
    return this.#parts.records.durability.written === 0 ? this.#crashes : 0;
  }

  /**
   * The author's hook of a wait runs like a body: it waits for what was written before it, may write with the consumption,
   * and if it fails the event stays.
   */
  consume(call: Call, event: EventRecord, now: number): void {
    this.#parts.records.inbox.take(event);
    this.#startWhenDurable(new Body(call, 1, now, event));
  }

  #startWhenDurable(body: Body): void {
    const { durability } = this.#parts.records;
    if (this.#asksFirst) durability.write();
    this.#asksFirst = false;
    if (durability.isComplete) this.#start(body);
    else this.#parts.inFlight.gate(body, durability.written);
  }

  /** Those that waited for nothing but what is durable by now. */
  startReleased(): void {
    const { inFlight, records } = this.#parts;
    for (const body of inFlight.takeReleased(records.durability.durable)) this.#start(body);
  }

  #start(body: Body): void {
    if (body.event) return this.#startHook(body, body.event);
    const options = body.call.spec.options;
    if (!options) return;
    this.#parts.inFlight.cutOff.takeUp(body.call.key);
    const { run } = this.#parts;
    const context = contextOf(body, options.shown, run);
    const work = (): unknown => body.call.spec.callback?.(context);
    const { onAttemptStart, onAttemptEnd } = run.observer;
    if (onAttemptStart !== undefined || onAttemptEnd !== undefined) body.watch = new AttemptWatch(run, body);
    this.#run(body, work, options.timeoutMs, (outcome) => this.#bodyDone(body, context, outcome));
  }

  #startHook(body: Body, event: EventRecord): void {
    const { onConsume, name } = body.call.spec;
    const { shown, timeoutMs } = this.#parts.run.options.resolve(undefined, name);
    const context = contextOf(body, shown, this.#parts.run);
    // The hook has an event of its own: what it does to it is not what the wait received.
    const work = (): unknown => onConsume?.(receivedFrom(event), context);
    this.#run(body, work, timeoutMs, (outcome) => this.#hookDone(body, event, outcome));
  }

  #run(body: Body, work: () => unknown, timeoutMs: number, done: (outcome: BodyOutcome) => void): void {
    const { run, inFlight } = this.#parts;
    inFlight.add(body);
    this.#timeouts.watch(body, timeoutMs);
    void run.scope.run<Promise<void>>({ turn: run.turn, body }, () => body.run(work, done));
  }

  /** The writes of a body that was through were refused: as if it had thrown, with the same retries and delays. */
  failAfterAll(body: Body, thrown: unknown): void {
    const { shown } = body.call.spec.options as StepOptions;
    this.#parts.inFlight.add(body);
    this.#bodyDone(body, contextOf(body, shown, this.#parts.run), { ok: false, error: thrown });
  }

  #bodyDone(body: Body, context: StepContext, outcome: BodyOutcome): void {
    const { definition, runtime } = this.#parts.run;
    const attempted = attemptOutcome(outcome, body, context, definition, runtime);
    // Almost always decided at once; only an author's own delay function takes time, and it holds the turn open.
    if (attempted instanceof Promise) void attempted.then((decided) => this.#attempted(body, decided));
    else this.#attempted(body, attempted);
  }

  #attempted(body: Body, decided: AttemptOutcome): void {
    const { run, life, schedule, inFlight, results, parked } = this.#parts;
    const { call } = body;
    if (!life.isOpen || !inFlight.remove(body)) return;
    this.#cutOffInside(body);
    const record = settle(baseOf(call, body.startedAt, body.start), decided, run.now());
    const needsCommit = record.status !== "waiting" && mutationsFor(body, record) !== null;
    // One whose writes may be refused has failed then.
    if (!needsCommit) body.watch?.settled(record);
    if (record.status !== "waiting")
      return results.settled({ call, draft: record, ...plain, body, needsCommit });
    parked.record(call, record);
    run.notice(attemptFailed(call.name, record));
    schedule.pump();
  }

  #hookDone(body: Body, event: EventRecord, outcome: BodyOutcome): void {
    const { run, life, inFlight, records, results } = this.#parts;
    if (!life.isOpen || !inFlight.remove(body)) return;
    this.#cutOffInside(body);
    const { call } = body;
    if (!outcome.ok) {
      records.inbox.putBack(event);
      return results.failed(call, toStoredError(outcome.error));
    }
    const now = run.now();
    const draft = completedWait(baseOf(call, now), receivedValue(event), now);
    results.settled({ call, draft, ...plain, body, event, needsCommit: body.mutations !== null });
  }

  /** What a body that is over left running. An event whose hook was cut off was not taken after all. */
  #cutOffInside(body: Body): void {
    const { inFlight, records } = this.#parts;
    const { inbox, handOver } = records;
    // Nearly always there is nothing inside.
    if (body.openCalls > 0)
      for (const inner of inFlight.cancelInside(body)) {
        if (inner.call.state === "running" && inner.mustNotRepeat) inFlight.cutOff.add(inner.begun);
        if (inner.event) inbox.putBack(inner.event);
      }
    if (handOver.isEmpty) return;
    for (const { body: inner, event } of handOver.dropInside(body)) {
      if (inner?.mustNotRepeat) inFlight.cutOff.add(inner.begun);
      if (event) inbox.putBack(event);
    }
  }
}
