import { claimIds, claimOne, instance, started, stepsOf, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import { at, completed, create, errored, leaseMs, ref, terminate, value } from "./given.ts";

export const createCases: readonly Case[] = [
  {
    name: "a created instance is active, due when asked, and keeps what it was given (scenario 155)",
    async run({ open }) {
      const store = await open();
      const outcome = await write(
        store,
        create("a", {
          params: value([1]),
          createdAt: at(-5),
          dueAt: at(7),
          deadlineAt: at(99),
          retentionMs: 60,
        }),
      );
      isTrue(outcome.kind === "created" && outcome.claim === null, "created without a lease");
      matches(
        await instance(store, "a"),
        {
          ...ref("a"),
          runId: outcome.runId,
          runNumber: 1,
          status: "active",
          params: value([1]),
          output: null,
          error: null,
          terminationReason: null,
          deadLetter: false,
          createdAt: at(-5),
          startedAt: null,
          completedAt: null,
          pausedAt: null,
          deadlineAt: at(99),
          retentionMs: 60,
          retentionUntil: null,
          parent: null,
          executing: false,
          dueAt: at(7),
          crashCount: 0,
          begun: [],
        },
        "the instance",
      );
    },
  },
  {
    name: "an instance remembers its parent",
    async run({ open }) {
      const store = await open();
      await write(store, create("child", { parent: ref("mother", "family") }));
      equal((await instance(store, "child")).parent, ref("mother", "family"), "parent");
    },
  },
  {
    name: "an existing id is reported with its status and left alone (INV-36)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a", { params: value("first") }));
      await write(store, terminate("a"), at(1));
      const before = await instance(store, "a");
      const again = await write(store, create("a", { params: value("second") }), at(2));
      equal(again, { kind: "exists", status: "terminated", runNumber: 1 }, "the second creation");
      equal(await instance(store, "a"), before, "the instance");
    },
  },
  {
    name: "many creations of one id at once give one instance (INV-36)",
    async run({ open }) {
      const store = await open();
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_unused, n) => write(store, create("a", { params: value(n) }))),
      );
      const winners = outcomes.flatMap((outcome, n) => (outcome.kind === "created" ? [n] : []));
      equal(winners.length, 1, "creations that won");
      equal((await instance(store, "a")).params, value(winners[0]), "params of the winner");
      equal(await claimIds(store, at(0)), ["a"], "claimable runs");
    },
  },
  {
    name: "the same id twice in one batch: the first is created, the second reported",
    async run({ open }) {
      const store = await open();
      const outcomes = await store.write(
        [create("a", { params: value(1) }), create("a", { params: value(2) })],
        at(0),
      );
      equal(
        outcomes.map((outcome) => outcome.kind),
        ["created", "exists"],
        "outcomes",
      );
      equal((await instance(store, "a")).params, value(1), "params");
    },
  },
  {
    name: "an id is unique within its workflow only",
    async run({ open }) {
      const store = await open();
      await write(store, create("a", { params: value("order") }));
      equal(
        (await write(store, create("a", { workflowName: "bill", params: value("bill") }))).kind,
        "created",
        "bill",
      );
      equal((await instance(store, "a")).params, value("order"), "params in one workflow");
      equal((await instance(store, "a", undefined, "bill")).params, value("bill"), "params in the other");
    },
  },
  {
    name: "a batch of 100 creations is answered in order, each with its own run",
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 100 }, (_unused, n) => `i${99 - n}`);
      const outcomes = await store.write(
        ids.map((id) => create(id)),
        at(0),
      );
      for (const [n, outcome] of outcomes.entries()) {
        isTrue(outcome.kind === "created", `creation ${n}`);
        equal((await instance(store, ids[n] as string)).runId, outcome.runId, `run of ${ids[n]}`);
      }
      equal(new Set(outcomes.map((o) => o.kind === "created" && o.runId)).size, 100, "different runs");
    },
  },
  {
    name: "a creation may hand the run back already leased, so that nobody else can claim it",
    async run({ open }) {
      const store = await open();
      const claim = await started(
        store,
        "a",
        { params: value("mine"), createdAt: at(-3), deadlineAt: at(500) },
        at(10),
      );
      matches(
        claim,
        {
          ...ref("a"),
          runNumber: 1,
          params: value("mine"),
          createdAt: at(-3),
          startedAt: at(10),
          deadlineAt: at(500),
          waitingSince: null,
          fresh: true,
          eventSeq: 0,
          begun: [],
          crashCount: 0,
        },
        "the claim",
      );
      matches(claim.lease, { owner: "runner", expiresAt: at(10) + leaseMs }, "the lease");
      equal(claim.left, { token: 0, commit: 0, ranOut: false }, "what was there before");
      equal(await claimIds(store, at(11)), [], "claimable by others");
      matches(
        await instance(store, "a"),
        {
          status: "active",
          executing: true,
          startedAt: at(10),
          dueAt: at(10) + leaseMs,
          token: claim.lease.token,
        },
        "the instance",
      );
    },
  },
  {
    name: "a lease handed out at creation runs out like any other",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      const claim = await claimOne(store, "a", at(leaseMs));
      matches(claim, { crashCount: 1, startedAt: at(0) }, "the second claim");
      equal(claim.left, { token: first.lease.token, commit: 0, ranOut: true }, "what was left");
    },
  },
  {
    name: "an existing id hands out no lease",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const again = await write(store, create("a", { lease: { owner: "thief", until: at(leaseMs) } }));
      equal(again.kind, "exists", "the second creation");
      equal((await instance(store, "a")).token, lease.token, "token");
    },
  },
  {
    name: "a first run may begin with settled steps, and then is not fresh",
    async run({ open }) {
      const store = await open();
      const history = [completed(1), errored(4)];
      const claim = await started(store, "fork", { history });
      equal(claim.fresh, false, "fresh");
      equal(await stepsOf(store, claim.lease.runId), history, "steps");
      const outcome = await write(store, create("later", { history }));
      isTrue(outcome.kind === "created", "created without a lease");
      equal((await claimOne(store, "later", at(1))).fresh, false, "fresh when claimed later");
    },
  },
  {
    name: "a start in the future is not claimed before its time (INV-28)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a", { dueAt: at(1000) }));
      equal(await claimIds(store, at(999)), [], "a millisecond early");
      equal(await claimIds(store, at(1000)), ["a"], "in time");
    },
  },
  {
    name: "creations and other requests in one batch: each is answered at its own place",
    async run({ open }) {
      const store = await open();
      await write(store, create("b"));
      const outcomes = await store.write(
        [create("a"), terminate("b"), create("b"), create("c"), terminate("none")],
        at(0),
      );
      equal(
        outcomes.map((outcome) => outcome.kind),
        ["created", "changed", "exists", "created", "not-found"],
        "outcomes",
      );
    },
  },
];
