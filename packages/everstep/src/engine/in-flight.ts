import type { BegunBody } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import type { Body } from "./body.ts";
import { CutOff, tellsOf } from "./cut-off.ts";
import { added, none, taken } from "./short-list.ts";
import { outerStepOver } from "./turn-errors.ts";

/**
 * The bodies of a turn: those that run, and those that wait for what was written before them to be durable. Lists, not
 * sets: mostly there is one, and never more than may run in parallel.
 */
export class InFlight {
  #running: readonly Body[] = none;
  #gated: readonly Body[] = none;
  /** Bodies that are over and whose outcome is not durable yet, one for each step: a crash would cut them off. */
  #unrecorded: readonly Body[] = none;
  /** Starts that were cut off, before this turn and in it. */
  readonly cutOff: CutOff;

  constructor(interrupted: readonly BegunBody[]) {
    this.cutOff = new CutOff(interrupted);
  }

  get size(): number {
    return this.#running.length + this.#gated.length;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get hasOnlyRunning(): boolean {
    return this.#running.length > 0 && this.#gated.length === 0;
  }

  get running(): readonly Body[] {
    return this.#running;
  }

  /** Bodies that a crash would cut off once everything up to this write is durable, and these records with it. */
  begunBeyond(write: number, records: readonly StepRecord[]): readonly BegunBody[] {
    let begun: readonly BegunBody[] = none;
    for (const body of this.#unrecorded) if (!isToldBy(records, body)) begun = added(begun, body.begun);
    for (const body of this.#running) if (!isToldBy(records, body)) begun = added(begun, body.begun);
    for (const body of this.#gated) if (body.gate <= write) begun = added(begun, body.begun);
    const cutOff = this.cutOff.beyond(records);
    return cutOff.length === 0 ? begun : [...cutOff, ...begun];
  }

  /** Starts that the next turn must know of when this one ends with these records: what still runs is cut off by that. */
  leftBy(records: readonly StepRecord[]): readonly BegunBody[] {
    return [...this.cutOff.beyond(records), ...this.#begunOnceBeyond(records)];
  }

  #begunOnceBeyond(records: readonly StepRecord[]): readonly BegunBody[] {
    let begun: readonly BegunBody[] = none;
    for (const body of this.#running)
      if (body.mustNotRepeat && !isToldBy(records, body)) begun = added(begun, body.begun);
    return begun;
  }

  /** These records are durable. */
  recorded(steps: readonly StepRecord[]): void {
    if (this.#unrecorded.every((body) => isToldBy(steps, body))) this.#unrecorded = none;
    else this.#unrecorded = this.#unrecorded.filter((body) => !isToldBy(steps, body));
    this.cutOff.recorded(steps);
  }

  /** Some body can still come to its end without anything else of this run going on. */
  get canFinish(): boolean {
    return this.#running.some((body) => body.openCalls === 0 && !body.isVoid);
  }

  get names(): readonly string[] {
    return [...this.#running, ...this.#gated].map((body) => body.call.name);
  }

  add(body: Body): void {
    body.call.state = "running";
    if (this.#unrecorded.length > 0) {
      this.#unrecorded = this.#unrecorded.filter(({ call }) => call.key !== body.call.key);
    }
    this.#running = added(this.#running, body);
  }

  /** False when the body was not running any more. */
  remove(body: Body): boolean {
    const others = taken(this.#running, body);
    if (others === null) return false;
    this.#running = others;
    this.#unrecorded = added(this.#unrecorded, body);
    return true;
  }

  gate(body: Body, gate: number): void {
    body.call.state = "gated";
    body.gate = gate;
    this.#gated = added(this.#gated, body);
  }

  gatedBeyond(durable: number): boolean {
    return this.#gated.some(({ gate }) => gate > durable);
  }

  /** Some body may begin once everything up to this write is durable. */
  isReleasedBy(write: number): boolean {
    return this.#gated.some(({ gate }) => gate <= write);
  }

  takeReleased(durable: number): readonly Body[] {
    const gated = this.#gated;
    this.#gated = this.gatedBeyond(durable) ? gated.filter(({ gate }) => gate > durable) : none;
    return this.#gated.length === 0 ? gated : gated.filter(({ gate }) => gate <= durable);
  }

  /** Bodies that were not started: their calls are to be decided again. */
  takeGated(): readonly Body[] {
    const gated = this.#gated;
    this.#gated = none;
    return gated;
  }

  /**
   * Steps nested in a body that is over have nobody to answer to; so one key never has two live bodies. Gives those that
   * were cut off.
   */
  cancelInside(outer: Body): readonly Body[] {
    if (outer.openCalls === 0) return none;
    const isInside = ({ call }: Body): boolean => call.parent === outer;
    const gated = this.#gated.filter(isInside);
    this.#gated = this.#gated.filter((body) => !isInside(body));
    const running = this.#running.filter(isInside);
    this.#running = this.#running.filter((body) => !isInside(body));
    const inside = running.flatMap((body) => {
      body.cancel(outerStepOver(outer.call.name));
      return this.cancelInside(body);
    });
    return [...gated, ...running, ...inside];
  }

  /** What they do no longer counts, and they are told so. They were begun all the same. */
  voidAll(reason: Error): void {
    for (const body of this.#running) body.cancel(reason);
  }

  /** What is over and not durable counts no more than what still runs. */
  get hasOpenEnds(): boolean {
    return !this.isEmpty || this.#unrecorded.length > 0;
  }

  cancelAll(reason: Error): void {
    for (const body of this.#running) body.cancel(reason);
    for (const body of this.#unrecorded) body.watch?.interrupted(reason);
    this.#running = none;
    this.#unrecorded = none;
    this.#gated = none;
  }
}

function isToldBy(records: readonly StepRecord[], { call, start }: Body): boolean {
  return records.some((record) => record.key === call.key && tellsOf(record, start));
}
