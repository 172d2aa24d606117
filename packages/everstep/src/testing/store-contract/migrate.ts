import {
  claimIds,
  claimOne,
  committed,
  instance,
  snapshot,
  started,
  superseded,
  suspended,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches, rejects } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  logLine,
  never,
  publish,
  ref,
  sendEvent,
  suspendUntil,
  workflow,
} from "./given.ts";

export const migrateCases: readonly Case[] = [
  {
    name: "migrating is done once: again it finds nothing to do, and keeps what is there",
    async run({ openBare }) {
      const store = await openBare();
      const first = await store.migrate();
      isTrue(first.to > first.from, "the first migration moves the version");
      await write(store, create("a"));
      const nothing = { from: first.to, to: first.to, statements: [] };
      equal(await store.migrate(), nothing, "the second migration");
      equal((await instance(store, "a")).status, "active", "status");
    },
  },
  {
    name: "a plan says what a migration would do and does nothing",
    async run({ openBare }) {
      const store = await openBare();
      const plan = await store.migrate({ plan: true });
      equal(await store.migrate({ plan: true }), plan, "the same plan again");
      equal(await store.migrate(), plan, "what the migration did");
      const nothing = { from: plan.to, to: plan.to, statements: [] };
      equal(await store.migrate({ plan: true }), nothing, "the plan afterwards");
    },
  },
  {
    name: "several migrations of one handle at once all succeed",
    async run({ openBare }) {
      const store = await openBare();
      const reports = await Promise.all([store.migrate(), store.migrate(), store.migrate()]);
      equal(new Set(reports.map((report) => report.to)).size, 1, "versions reached");
      equal((await write(store, create("a"))).kind, "created", "a creation afterwards");
    },
  },
  {
    name: "several processes migrating an empty database at once all succeed (LIV-8, scenario 164)",
    needs: "reopen",
    async run({ openBare, reopen }) {
      const first = await openBare();
      const [, second, third] = await Promise.all([first.migrate(), reopen(first), reopen(first)]);
      await write(first, create("a"));
      await write(second, create("b"));
      equal(await claimIds(third, at(0)), ["a", "b"], "seen by the third");
    },
  },
  {
    name: "everything is there again after closing and reopening (INV-41, scenario 163)",
    needs: "reopen",
    async run({ open, reopen }) {
      const store = await open();
      await write(store, create("new"));
      const { lease } = await suspended(store, "a", [completed(1), awaiting(2, "x", never)], never);
      await write(store, sendEvent("a", "e1", "x"), at(1));
      const claim = await claimOne(store, "a", at(1), { limit: 1 });
      await committed(store, commit(claim.lease, boundary(1, { logs: [logLine("kept")] })), at(2));
      const before = await snapshot(store, "a");
      await store.close();
      const again = await reopen(store);
      equal(await snapshot(again, "a"), before, "everything the run shows");
      equal((await instance(again, "new")).status, "active", "the other instance");
      isTrue(claim.lease.token !== lease.token, "the token was another");
    },
  },
  {
    name: "leases, numbers, sequences and idempotency outlive a restart of the process (INV-1, INV-42)",
    needs: "reopen",
    async run({ open, reopen }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const first = commit(lease, boundary(1, { steps: [completed(1)], logs: [logLine("once")] }));
      await committed(store, first, at(1));
      await store.write([sendEvent("a", "e1", "x"), publish("p1", "news")], at(1));
      await store.close();
      const again = await reopen(store);
      equal(await claimIds(again, at(2)), [], "claimable while the lease is in force");
      await committed(again, first, at(2));
      matches(
        await write(again, sendEvent("a", "e1", "x"), at(2)),
        { duplicate: true },
        "the event once more",
      );
      matches(
        await write(again, publish("p1", "news"), at(2)),
        { duplicate: true },
        "the publication once more",
      );
      await write(again, sendEvent("a", "e2", "x"), at(2));
      equal(
        (await undelivered(again, lease.runId)).map((event) => event.seq),
        [1, 2],
        "sequence",
      );
      const outcome = await write(again, create("b"), at(2));
      isTrue(
        outcome.kind === "created" && outcome.runId !== lease.runId,
        "the name of a run is never used again",
      );
      equal((await claimOne(again, "a", at(leaseMs), { limit: 1 })).left.token, lease.token, "token");
    },
  },
  {
    name: "what one handle wrote the other reads at once (INV-40)",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const two = await reopen(one);
      for (let n = 0; n < 20; n += 1) {
        const [writer, reader] = n % 2 === 0 ? [one, two] : [two, one];
        await write(writer, create(`i${n}`));
        equal((await instance(reader, `i${n}`)).status, "active", `instance ${n}`);
      }
      equal((await one.countByStatus()).active, 20, "counted");
    },
  },
  {
    name: "the fence holds between handles: what one lost the other has (INV-2)",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const two = await reopen(one);
      const slow = await started(one, "a");
      const fast = await claimOne(two, "a", at(leaseMs), { owner: "runner" });
      await superseded(one, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
      equal(
        await one.renew([{ lease: slow.lease, begun: [] }], never, at(leaseMs)),
        [{ kind: "lost" }],
        "renewal",
      );
      await committed(two, commit(fast.lease, boundary(1, { next: complete() })), at(leaseMs));
      equal((await instance(one, "a")).status, "complete", "status");
    },
  },
  {
    name: "an event from one handle and a suspend from the other never miss each other (INV-23)",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const two = await reopen(one);
      for (let n = 0; n < 20; n += 1) {
        const id = `i${n}`;
        const { lease } = await started(one, id);
        const suspend = commit(
          lease,
          boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) }),
        );
        const sent = sendEvent(id, `e${n}`, "x");
        await Promise.all(
          n % 2 === 0
            ? [one.write([suspend], at(1)), two.write([sent], at(1))]
            : [two.write([sent], at(1)), one.write([suspend], at(1))],
        );
        equal(await claimIds(two, at(1), { leaseUntil: never }), [id], `claimable at turn ${n}`);
      }
    },
  },
  {
    name: "many writes from two handles at once lose nothing and repeat nothing (INV-40)",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const two = await reopen(one);
      const { lease } = await started(one, "a");
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_unused, n) =>
          (n % 2 === 0 ? one : two).write([create(`i${n % 20}`), sendEvent("a", `e${n}`, "x")], at(1)),
        ),
      );
      equal(outcomes.filter(([created]) => created?.kind === "created").length, 20, "instances created");
      equal(
        (await undelivered(one, lease.runId)).map((event) => event.seq),
        Array.from({ length: 60 }, (_unused, n) => n + 1),
        "sequence",
      );
      const claims = await two.claim(claimRequest({ now: at(1) }));
      equal(claims.length, 20, "claimable");
    },
  },
  {
    name: "a closed store says so, and closing it again is harmless",
    async run({ open }) {
      const store = await open();
      await store.close();
      await store.close();
      await rejects(store.write([create("a")], at(0)), "STORE_CLOSED", "a write");
      await rejects(store.claim(claimRequest({ now: at(0) })), "STORE_CLOSED", "a claim");
      await rejects(store.getInstance(ref("a")), "STORE_CLOSED", "a read");
      await rejects(store.nextDueAt([workflow]), "STORE_CLOSED", "the next due time");
    },
  },
  {
    name: "closing one handle leaves the others at work",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const two = await reopen(one);
      await one.close();
      equal((await write(two, create("a"))).kind, "created", "a creation");
    },
  },
];
