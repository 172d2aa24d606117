import { decodeValue, encodeValue } from "../authoring/codec.ts";
import type { ReceivedEvent } from "../authoring/workflow-step.ts";
import type { EventRecord } from "../model/event.ts";
import { parseJson } from "../model/json.ts";
import type { EncodedValue } from "../model/value.ts";

/** An event as author code sees it. */
export function receivedFrom(event: EventRecord): ReceivedEvent {
  return {
    type: event.type ?? event.topic ?? "",
    payload: decodeValue(event.payload) as never,
    timestamp: new Date(event.createdAt),
  };
}

/**
 * The same as the result of the wait that took it. Put together from the payload's own text: it was judged when it was
 * accepted, and one level deeper it might not pass, so that whoever sent it could have failed the run.
 */
export function receivedValue(event: EventRecord): EncodedValue {
  const { type, timestamp } = receivedFrom(event);
  const { payload } = event;
  const sent = encodeValue(timestamp, "timestamp");
  return {
    json: `{"type":${JSON.stringify(type)},"payload":${payload.json},"timestamp":${sent.json}}`,
    marks: JSON.stringify([...marksUnder("payload", payload), ...marksUnder("timestamp", sent)]),
  };
}

function marksUnder(key: string, { marks }: EncodedValue): readonly unknown[] {
  const list = marks === null ? [] : (parseJson(marks) as readonly [readonly unknown[], string][]);
  return list.map(([path, tag]) => [[key, ...path], tag]);
}
