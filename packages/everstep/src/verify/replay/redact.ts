/** Replaces values before a history leaves its store, in a way that leaves the document replayable. */
import { decodeValue, encodeValue } from "../../authoring/codec.ts";
import { fromStoredError, toStoredError } from "../../authoring/stored-error.ts";
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { AttemptError, StepRecord } from "../../model/step.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";

/** Where a value stands. */
export type RedactPlace =
  | { readonly of: "params" | "output" }
  /** What a step returned, or the event a wait received. */
  | { readonly of: "result"; readonly stepKey: string }
  /** Of the run (`stepKey` null), of a step, or of one of its attempts. */
  | { readonly of: "error"; readonly stepKey: string | null; readonly attempt: number | null }
  | { readonly of: "event"; readonly id: string; readonly type: string | null; readonly topic: string | null }
  | { readonly of: "log message" | "log data"; readonly stepKey: string | null; readonly category: string };

/** Gives what shall leave instead of a value; errors come as errors, everything else as it was. */
export type Redact = (value: unknown, where: RedactPlace) => unknown;

export class Redactor {
  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  instance(record: InstanceRecord): InstanceRecord {
    const { params, output, error } = record;
    return {
      ...record,
      params: this.#value(params, { of: "params" }),
      output: output && this.#value(output, { of: "output" }),
      error: error && this.#error(error, { of: "error", stepKey: null, attempt: null }),
    };
  }

  step(step: StepRecord): StepRecord {
    const { key: stepKey } = step;
    const errors = step.errors.map((failure) => this.#attempt(stepKey, failure));
    if (step.status === "completed") {
      return { ...step, errors, result: this.#value(step.result, { of: "result", stepKey }) };
    }
    if (step.status === "waiting") return { ...step, errors };
    return { ...step, errors, error: this.#error(step.error, { of: "error", stepKey, attempt: null }) };
  }

  event(event: EventRecord): EventRecord {
    const { id, type, topic } = event;
    return { ...event, payload: this.#value(event.payload, { of: "event", id, type, topic }) };
  }

  log(line: StoredLogLine): StoredLogLine {
    const { stepKey, category, data } = line;
    const message = this.#redact(line.message, { of: "log message", stepKey, category });
    return {
      ...line,
      message: String(message),
      data: data && this.#value(data, { of: "log data", stepKey, category }),
    };
  }

  #attempt(stepKey: string, failure: AttemptError): AttemptError {
    const { attempt } = failure;
    return { ...failure, error: this.#error(failure.error, { of: "error", stepKey, attempt }) };
  }

  #value(value: EncodedValue, where: RedactPlace): EncodedValue {
    return encodeValue(this.#redact(decodeValue(value), where), `redacted ${where.of}`);
  }

  #error(error: StoredError, where: RedactPlace): StoredError {
    return toStoredError(this.#redact(fromStoredError(error), where));
  }
}
