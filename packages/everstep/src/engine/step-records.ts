import { stepBytes } from "../model/bytes.ts";
import type { StepRecord } from "../model/step.ts";

/** The records of a run by key, and how much memory they take together. */
export class StepRecords {
  readonly #records = new Map<string, StepRecord>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): StepRecord | undefined {
    return this.#records.get(key);
  }

  set(key: string, record: StepRecord): void {
    const before = this.#records.get(key);
    if (before !== undefined) this.#bytes -= stepBytes(before);
    this.#bytes += stepBytes(record);
    this.#records.set(key, record);
  }
}
