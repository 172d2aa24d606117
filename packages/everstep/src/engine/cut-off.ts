import type { BegunBody } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import { added } from "./short-list.ts";

/**
 * Starts of bodies that were cut off: by a crash or a shutdown before this turn, or in it, when the step around them came
 * to its end. They are owed to whoever comes next until a record tells what became of them.
 */
export class CutOff {
  #all: readonly BegunBody[];
  #owed: readonly BegunBody[];

  constructor(before: readonly BegunBody[]) {
    this.#all = before;
    this.#owed = before;
  }

  /** Number of the last start of this step that was cut off; 0 without any. */
  startOf(key: string): number {
    return this.#all.findLast((begun) => begun.key === key)?.start ?? 0;
  }

  add(begun: BegunBody): void {
    this.#all = added(this.#all, begun);
    this.#owed = added(this.#owed, begun);
  }

  /** The step's body runs again. */
  takeUp(key: string): void {
    if (this.#owed.length > 0) this.#owed = this.#owed.filter((begun) => begun.key !== key);
  }

  /** These records are durable. */
  recorded(records: readonly StepRecord[]): void {
    if (this.#owed.length > 0) this.#owed = this.beyond(records);
  }

  /** Those that are still owed once these records are durable. */
  beyond(records: readonly StepRecord[]): readonly BegunBody[] {
    if (this.#owed.length === 0) return this.#owed;
    return this.#owed.filter((begun) => !records.some((record) => isToldBy(record, begun)));
  }
}

/** What became of the start is in the record, or it will never be asked for again because the step around it is over. */
function isToldBy(record: StepRecord, { key, start }: BegunBody): boolean {
  if (record.key === key) return tellsOf(record, start);
  return record.status !== "waiting" && isInside(key, record.key);
}

function isInside(key: string, outer: string): boolean {
  return key.startsWith(outer) && /^(@\d+)?\//.test(key.slice(outer.length));
}

/** What became of this start is in the record. */
export function tellsOf({ status, starts }: StepRecord, start: number): boolean {
  return status !== "waiting" || starts >= start;
}
