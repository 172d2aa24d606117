import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeValue, encodeValue } from "../authoring/codec.ts";
import type { EventRecord } from "../model/event.ts";
import { receivedFrom, receivedValue } from "./received-event.ts";

function event(payload: unknown, facts: Partial<EventRecord> = {}): EventRecord {
  return {
    seq: 1,
    id: "e",
    type: "note",
    topic: null,
    forStep: null,
    system: false,
    payload: encodeValue(payload, "payload"),
    createdAt: 1_750_000_000_123,
    deliveredAt: null,
    consumedBy: null,
    ...facts,
  };
}

const rich = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withTypedArray: true,
});

test("what a wait keeps is what the codec would have written of the event", () => {
  fc.assert(
    fc.property(rich, (payload) => {
      let sent: EventRecord;
      try {
        sent = event(payload);
      } catch {
        // What cannot be sent cannot be received.
        return;
      }
      expect(receivedValue(sent)).toEqual(encodeValue(receivedFrom(sent), "result"));
    }),
    { seed: 12 },
  );
});

test("an event from a topic has the topic for its type", () => {
  expect(receivedFrom(event(1, { type: null, topic: "news" }))).toMatchObject({ type: "news", payload: 1 });
});

test("a payload as deep as may be sent can be received", () => {
  let deep: unknown = new Date(5);
  for (let level = 0; level < 999; level++) deep = [deep];
  const kept = decodeValue(receivedValue(event(deep))) as { payload: unknown };
  expect(kept.payload).toEqual(deep);
});

test("a payload that cannot be read is not made part of a result", () => {
  const damaged = event(1, { payload: { json: "{", marks: null } });
  expect(() => receivedValue(damaged)).toThrow(expect.objectContaining({ code: "HISTORY_UNREADABLE" }));
});
