import { parseJson } from "../../model/json.ts";
import { committed, ended, logsOf, started, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  logLine,
  never,
  restart,
  sendEvent,
  sleeping,
  workflow,
} from "./given.ts";

const from = { stepKey: "tell", attempt: 2 };

/** Events that a step sends and nobody gets. */
export const undeliveredCases: readonly Case[] = [
  {
    name: "an event sent alongside a boundary that reaches nobody is told in the log of its sender, with the reason",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "sender");
      await ended(store, "over", complete());
      await suspended(store, "other", [sleeping(1, never)], never);
      await write(store, sendEvent("other", "used", "x"));
      await suspended(store, "full", [sleeping(1, never)], never);
      await write(store, sendEvent("full", "first", "x"));
      await suspended(store, "again", [sleeping(1, never)], never);
      await write(store, sendEvent("again", "then", "x"));
      await write(store, restart("again"));
      await committed(
        store,
        commit(lease, boundary(1, { steps: [completed(1)], logs: [logLine("before")] }), {
          alongside: [
            { ...sendEvent("nobody", "e1", "paid", { createdAt: at(1) }), from },
            { ...sendEvent("over", "e2", "paid"), from },
            { ...sendEvent("full", "e3", "paid", { bufferMax: 1 }), from },
            { ...sendEvent("other", "e4", "paid"), from },
            { ...sendEvent("other", "used", "paid"), from },
            { ...sendEvent("again", "then", "paid"), from },
          ],
        }),
        at(1),
      );
      await committed(store, commit(lease, boundary(2, { logs: [logLine("after")] })), at(2));
      const lines = await logsOf(store, lease.runId);
      equal(
        lines.map(({ seq, message }) => `${seq} ${message}`),
        [
          "1 before",
          `2 Event "paid" to ${workflow}/nobody reached nobody: there is no such instance.`,
          `3 Event "paid" to ${workflow}/over reached nobody: that instance has ended.`,
          `4 Event "paid" to ${workflow}/full reached nobody: that instance holds as many events as it may that it has not taken.`,
          `5 Event "paid" to ${workflow}/again reached nobody: its id was used for an event to an earlier run of that instance.`,
          "6 after",
        ],
        "lines",
      );
      const { seq: _seq, message: _message, data, ...facts } = lines[1] ?? {};
      equal(
        facts,
        { ...from, level: "warn", category: "system", isReplay: false, createdAt: at(1) },
        "what the line says of the sender",
      );
      equal(
        parseJson(data?.json ?? "null"),
        {
          code: "INSTANCE_NOT_FOUND",
          workflowName: workflow,
          instanceId: "nobody",
          eventId: "e1",
          type: "paid",
        },
        "its data",
      );
    },
  },
  {
    name: "an event of the last boundary that reaches nobody is told once, also when that boundary is repeated",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "sender");
      const last = commit(lease, boundary(1, { next: complete() }), {
        alongside: [{ ...sendEvent("nobody", "e1", "paid"), from }],
      });
      await committed(store, last, at(1));
      await committed(store, last, at(2));
      equal((await logsOf(store, lease.runId)).length, 1, "lines");
    },
  },
];
