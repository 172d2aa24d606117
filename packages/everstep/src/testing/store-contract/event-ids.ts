import type { InstanceRecord } from "../../model/instance.ts";
import type { SendEventRequest } from "../../model/request.ts";
import { erased, eventsOf, started, undelivered, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import { at, create, ref, sendEvent, terminate, value } from "./given.ts";

export const eventIdCases: readonly Case[] = [
  {
    name: "an event id is accepted once and answered alike, even after the run ended (INV-25, scenario 87)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x", { payload: value("first") }), at(1));
      const again = await write(store, sendEvent("a", "e1", "x", { payload: value("second") }), at(2));
      matches(again, { kind: "accepted", duplicate: true, woke: false }, "the second");
      equal(
        (await eventsOf(store, claim.lease.runId)).map((e) => e.payload),
        [value("first")],
        "events",
      );
      await write(store, terminate("a"), at(3));
      const late = await write(store, sendEvent("a", "e1", "x"), at(4));
      matches(late, { kind: "accepted", duplicate: true, status: "terminated" }, "after the end");
    },
  },
  {
    name: "the same event id twice in one batch is one event",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const outcomes = await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e1", "x")], at(1));
      equal(
        outcomes.map((o) => o.kind === "accepted" && o.duplicate),
        [false, true],
        "duplicates",
      );
      equal((await undelivered(store, claim.lease.runId)).length, 1, "events");
    },
  },
  {
    name: "an event id belongs to its instance: to another it means nothing, and is shown as it was given",
    async run({ open }) {
      const store = await open();
      await store.write([create("a"), create("b"), create("a", { workflowName: "bill" })], at(0));
      const sends = [
        sendEvent("a", "e1", "x"),
        sendEvent("b", "e1", "x"),
        sendEvent("a", "e1", "x", { workflowName: "bill" }),
      ];
      for (const send of sends) matches(await write(store, send), { duplicate: false }, send.instanceId);
      for (const send of sends) matches(await write(store, send), { duplicate: true }, "again");
      matches((await store.write(sends, at(1)))[1], { duplicate: true }, "again, all together");
      for (const send of sends) {
        const run = await store.getInstance(send);
        const [event, ...others] = await undelivered(store, (run as InstanceRecord).runId);
        equal([event?.id, others], ["e1", []], "what it has got");
      }
      await erased(store, ref("b"));
      matches(
        await write(store, sends[0] as SendEventRequest),
        { duplicate: true },
        "after the other is gone",
      );
    },
  },
  {
    name: "no id can be given that looks like one that the store makes itself",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const serial = String(lease.runId);
      const ids = [
        "e1",
        `~${serial}:e1`,
        "~77:e1",
        `~5:order:1:a:e1`,
        "~",
        "~:",
        "~p:e1",
        `~p:p1:${serial}:1`,
        `p1:${serial}:1`,
      ];
      for (const id of ids) matches(await write(store, sendEvent("a", id, "x")), { duplicate: false }, id);
      for (const id of ids) matches(await write(store, sendEvent("a", id, "x")), { duplicate: true }, id);
      equal(
        (await undelivered(store, lease.runId)).map(({ id }) => id),
        ids,
        "as they were given",
      );
    },
  },
];
