import { decodeValue } from "../../authoring/codec.ts";
import { errorLimits } from "../../model/limits.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** Every value comes back as it went in, so each of them can be read (INV-45). */
export function* valueRules({ record, steps, events }: RunFacts): Generator<Found> {
  yield* value("The run's params", record.params);
  if (record.output !== null) yield* value("The run's output", record.output);
  if (record.error !== null) yield* error("The run's error", record.error);
  for (const step of steps) {
    const whose = `of step "${step.key}"`;
    if (step.status === "completed") yield* value(`The result ${whose}`, step.result);
    if (step.status === "errored") yield* error(`The error ${whose}`, step.error);
    for (const failed of step.errors)
      yield* error(`The error of start ${failed.attempt} ${whose}`, failed.error);
  }
  for (const event of events) yield* value(`The payload of event ${event.seq}`, event.payload);
}

function* value(what: string, encoded: EncodedValue): Generator<Found> {
  try {
    decodeValue(encoded);
  } catch (problem) {
    yield fidelity(`${what} cannot be read: ${problem instanceof Error ? problem.message : String(problem)}`);
  }
}

function* error(what: string, stored: StoredError): Generator<Found> {
  let cause: StoredError | undefined = stored;
  for (let depth = 0; cause !== undefined; depth++) {
    if (typeof cause.name !== "string" || typeof cause.message !== "string") {
      yield fidelity(`${what} has no name or no message.`);
      return;
    }
    if (depth > errorLimits.causeDepth) {
      yield fidelity(`${what} has more than ${errorLimits.causeDepth} causes in a row.`);
      return;
    }
    if (cause.properties !== undefined) yield* value(`${what}, in its properties,`, cause.properties);
    cause = cause.cause;
  }
}

function fidelity(message: string): Found {
  return { invariant: "INV-45", message };
}
