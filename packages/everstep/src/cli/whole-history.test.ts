import { expect, test } from "vitest";
import type { InstanceClient } from "../fetch-client/index.ts";
import type { WireHistory } from "../wire/index.ts";
import { type HistoryRequest, wholeHistory } from "./whole-history.ts";

/** Lists of these lengths, two per page, whose pages begin anew without a cursor, as a server's do. */
function instanceWith(lengths: { steps: number; events: number; logs: number }) {
  const requests: HistoryRequest[] = [];
  const page = (count: number, cursor: string | undefined) => {
    const from = Number(cursor ?? 0);
    const items = Array.from({ length: Math.min(2, count - from) }, (_, at) => from + at);
    return { items, next: from + 2 < count ? String(from + 2) : undefined };
  };
  const history = async (request: HistoryRequest): Promise<WireHistory> => {
    requests.push(request);
    const steps = page(lengths.steps, request.stepsCursor);
    const events = page(lengths.events, request.eventsCursor);
    const logs = page(lengths.logs, request.logsCursor);
    return {
      runNumber: 3,
      steps: steps.items as never,
      stepsHasNextPage: steps.next !== undefined,
      ...(steps.next === undefined ? {} : { stepsCursor: steps.next }),
      events: events.items as never,
      eventsHasNextPage: events.next !== undefined,
      ...(events.next === undefined ? {} : { eventsCursor: events.next }),
      ...(request.includeLogs ? { logs: logs.items as never, logsHasNextPage: logs.next !== undefined } : {}),
      ...(request.includeLogs && logs.next !== undefined ? { logsCursor: logs.next } : {}),
    };
  };
  return { requests, instance: { history } as unknown as InstanceClient };
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

test.each([
  { steps: 0, events: 0, logs: 0 },
  { steps: 1, events: 5, logs: 3 },
  { steps: 7, events: 0, logs: 2 },
  { steps: 2, events: 2, logs: 9 },
])("everything is there once, in its order: %o", async (lengths) => {
  const { instance } = instanceWith(lengths);
  const history = await wholeHistory(instance, { includeLogs: true });
  expect(history).toEqual({
    runNumber: 3,
    steps: upTo(lengths.steps),
    events: upTo(lengths.events),
    logs: upTo(lengths.logs),
  });
});

test("further pages are of the run that the first was of, whatever was restarted meanwhile", async () => {
  const { instance, requests } = instanceWith({ steps: 5, events: 0, logs: 0 });
  await wholeHistory(instance);
  expect(requests.map(({ runNumber }) => runNumber)).toEqual([undefined, 3, 3]);
});
