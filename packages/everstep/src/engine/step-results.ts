import { decodeValue } from "../authoring/codec.ts";
import type { SettledStep } from "../model/step.ts";
import type { StoredError } from "../model/value.ts";
import type { Call } from "./call.ts";
import { plain, type Settlement } from "./hand-over.ts";
import { PromptAnswers } from "./prompt-answers.ts";
import { failedStep } from "./settle.ts";
import { baseOf } from "./step-base.ts";
import { leaseLost, unreadableStep } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "records" | "life" | "schedule" | "commits" | "endings">;

/** Gives author code what its steps came to, one result per drained microtask queue, in the order of hand-over.ts. */
export class StepResults {
  readonly #parts: Parts;
  readonly #prompt: PromptAnswers;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { runtime, definition } = parts.run;
    this.#prompt = new PromptAnswers(
      runtime,
      definition.limits.maxSteps,
      () => parts.endings.goesInCircles(),
      () => parts.endings.asksWithoutEnd(),
    );
  }

  /** A step came to its end. */
  settled(settlement: Settlement): void {
    const { run, records, life, schedule } = this.#parts;
    if (settlement.body) run.spoke(settlement.call.name);
    const isNext = records.handOver.add(settlement);
    // The usual case, one step after the other: hand over at once, without another turn of the event loop.
    if (isNext && life.goesOn) {
      if (!run.holdsLease()) return life.abandon(leaseLost("expired"));
      this.next();
    }
    schedule.pump();
  }

  /** The same for one that fails without another attempt. */
  failed(call: Call, error: StoredError): void {
    const now = this.#parts.run.now();
    this.settled({ call, draft: failedStep(baseOf(call, now), error, now), ...plain });
  }

  /** Hands over at most one settlement; true when it did. */
  next(): boolean {
    if (!this.#parts.schedule.isDrained) return false;
    const next = this.#parts.records.handOver.next(this.#parts.commits.flush);
    if (next) this.#give(next.call, next.record);
    return next !== null;
  }

  /** The same inside of bodies. */
  nextInside(): boolean {
    const next = this.#parts.records.handOver.nextInside();
    if (next) this.#give(next.call, next.record);
    return next !== null;
  }

  #give(call: Call, record: SettledStep): void {
    const { register } = this.#parts.records;
    this.#prompt.progressed();
    if (call.parent) call.parent.openCalls--;
    else this.#parts.schedule.handedOver();
    register.settled(call, record);
    try {
      if (record.status === "completed") call.resolve(decodeValue(record.result));
      else call.reject(register.errorOf(record));
    } catch (problem) {
      this.#parts.endings.breakDown(unreadableStep(call.name, problem));
    }
  }

  /** Author code has stalled: nothing it asks for is answered any more. */
  get hasStalled(): boolean {
    return this.#prompt.hasStalled;
  }

  /** Author code asks for something; throws where only that ends its loop. */
  called(): void {
    this.#prompt.called();
  }

  /** Author code asked for something that is not over yet. */
  progressed(): void {
    this.#prompt.progressed();
  }

  /** What a call comes to that is over as soon as it is made. */
  answer<Value>(answer: () => Value): Promise<Value> {
    return this.#prompt.give(answer);
  }
}
