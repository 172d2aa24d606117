import type { BegunBody } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import type { Body } from "./body.ts";
import type { Call } from "./call.ts";
import { outerStepOver } from "./turn-errors.ts";

/** The bodies of a turn: those that run, and those that wait for what was written before them to be durable. */
export class InFlight {
  readonly #running = new Set<Body>();
  #gated: { readonly body: Body; readonly gate: number }[] = [];
  /** Bodies that are over and whose outcome is not durable yet, by the keys of their steps: a crash would cut them off. */
  readonly #unrecorded = new Map<string, BegunBody>();

  get size(): number {
    return this.#running.size + this.#gated.length;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  get begun(): readonly BegunBody[] {
    return [...this.#unrecorded.values(), ...[...this.#running].map((body) => body.begun)];
  }

  /** These records are durable. */
  recorded(steps: readonly StepRecord[]): void {
    for (const step of steps) {
      const begun = this.#unrecorded.get(step.key);
      if (begun && tellsOf(step, begun)) this.#unrecorded.delete(step.key);
    }
  }

  /** Some body can still come to its end without anything else of this run going on. */
  get canFinish(): boolean {
    for (const body of this.#running) if (body.openCalls === 0) return true;
    return false;
  }

  get names(): readonly string[] {
    return [...this.#running, ...this.#gated.map(({ body }) => body)].map((body) => body.call.name);
  }

  add(body: Body): void {
    body.call.state = "running";
    this.#unrecorded.delete(body.call.key);
    this.#running.add(body);
  }

  /** False when the body was not running any more. */
  remove(body: Body): boolean {
    const wasRunning = this.#running.delete(body);
    if (wasRunning) this.#unrecorded.set(body.call.key, body.begun);
    return wasRunning;
  }

  gate(body: Body, gate: number): void {
    body.call.state = "gated";
    this.#gated.push({ body, gate });
  }

  gatedBeyond(durable: number): boolean {
    return this.#gated.some(({ gate }) => gate > durable);
  }

  /** What a commit of everything up to this write would let start. */
  releasedBy(write: number): readonly BegunBody[] {
    return this.#gated.filter(({ gate }) => gate <= write).map(({ body }) => body.begun);
  }

  takeReleased(durable: number): readonly Body[] {
    if (this.#gated.length === 0) return [];
    const released = this.#gated.filter(({ gate }) => gate <= durable);
    this.#gated = this.#gated.filter(({ gate }) => gate > durable);
    return released.map(({ body }) => body);
  }

  /** Bodies that were not started, as calls to be decided again. */
  takeGated(): readonly Call[] {
    const calls = this.#gated.map(({ body }) => body.call);
    this.#gated = [];
    return calls;
  }

  /**
   * Steps nested in a body that is over have nobody to answer to; so one key never has two live bodies. Gives those that
   * were cut off.
   */
  cancelInside(outer: Body): readonly Body[] {
    if (outer.openCalls === 0) return [];
    const gated = this.#gated.map(({ body }) => body).filter((body) => body.call.parent === outer);
    this.#gated = this.#gated.filter(({ body }) => body.call.parent !== outer);
    const running = [...this.#running].filter((body) => body.call.parent === outer);
    const inside = running.flatMap((body) => {
      this.#running.delete(body);
      body.cancel(outerStepOver(outer.call.name));
      return this.cancelInside(body);
    });
    return [...gated, ...running, ...inside];
  }

  cancelAll(reason: Error): void {
    for (const body of this.#running) body.cancel(reason);
    this.#running.clear();
    this.#unrecorded.clear();
    this.#gated = [];
  }
}

/** What became of this start is in the record. */
export function tellsOf({ status, starts }: StepRecord, { start }: BegunBody): boolean {
  return status !== "waiting" || starts >= start;
}
