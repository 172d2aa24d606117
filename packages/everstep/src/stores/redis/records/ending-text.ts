/** What a run ended with: its output, its error or the reason why it was ended. */
import type { Ending as EndingNext } from "../../../model/boundary.ts";
import type { InstanceStatus, TerminationReason } from "../../../model/instance.ts";
import type { EncodedValue, StoredError } from "../../../model/value.ts";
import { unreadable } from "../server/script-values.ts";
import { checkStoredError, readRecord, recordText } from "./record-text.ts";

export function endingText(next: EndingNext): string {
  switch (next.kind) {
    case "complete":
      return recordText([null, null], next.output);
    case "error":
      return errorText(next.error);
    case "terminate":
      return reasonText(next.reason);
  }
}

export function errorText(error: StoredError): string {
  return recordText([error, null], null);
}

export function reasonText(reason: TerminationReason): string {
  return recordText([null, reason], null);
}

export interface Ending {
  readonly output: EncodedValue | null;
  readonly error: StoredError | null;
  readonly terminationReason: TerminationReason | null;
}

/** A damaged one is left out, so that the instance can still be looked at, terminated and removed. */
export function readEnding(record: string | null, status: InstanceStatus): Ending {
  if (record === null) return nothing;
  try {
    return read(record);
  } catch {
    return status === "errored" ? { ...nothing, error: unreadableError } : nothing;
  }
}

function read(record: string): Ending {
  const { header, value } = readRecord(record, 2);
  const [error, reason] = header;
  if (reason !== null && typeof (reason as TerminationReason).source !== "string") {
    throw unreadable("the reason of a termination", record);
  }
  return {
    output: value,
    error: error === null ? null : checkStoredError(error),
    terminationReason: reason as TerminationReason | null,
  };
}

const nothing: Ending = { output: null, error: null, terminationReason: null };

const unreadableError: StoredError = {
  name: "EverstepError",
  code: "HISTORY_UNREADABLE",
  message: "The stored error cannot be read.",
};
