/** Two processes that do any two things to the same runs, in opposite order, do not lock each other out. */
import type { Claim, Store, StoreRequest } from "everstep/store";
import { StoreError } from "everstep/store";
import { describe, expect, test } from "vitest";
import { erased } from "../../packages/everstep/src/testing/store-contract/acts.ts";
import { onEachData } from "./each-data.ts";
import * as given from "./given.ts";

const ids = ["a", "b", "c", "d", "e", "f"];

/** Does its work to all runs; the claims are those of whoever holds them. */
type Operation = (store: Store, claims: readonly Claim[], now: number) => Promise<unknown>;

const commits =
  (facts: Parameters<typeof given.boundary>[1]): Operation =>
  (store, claims, now) =>
    store.write(
      claims.map(({ lease }) => given.commit(lease, given.boundary(2, facts))),
      now,
    );
const requests =
  (request: (instanceId: string) => StoreRequest): Operation =>
  (store, claims, now) =>
    store.write(
      claims.map(
        ({ instanceId, workflowName }) => ({ ...request(instanceId), workflowName }) as StoreRequest,
      ),
      now,
    );

const operations: Record<string, Operation> = {
  complete: commits({ next: given.complete() }),
  fail: commits({ next: given.errorOut("no") }),
  continue: commits({ steps: [given.completed(2)], logs: [given.logLine("done")] }),
  suspend: commits({
    steps: [given.awaiting(2, "other", given.never)],
    next: given.suspendUntil(given.never),
  }),
  event: requests((id) => given.sendEvent(id, `e-${events++}`, "note")),
  publish: (store, _claims, now) => store.write([given.publish(`p-${events++}`, "news")], now),
  pause: requests((id) => given.pause(id)),
  resume: requests((id) => given.resume(id)),
  terminate: requests((id) => given.terminate(id)),
  restart: requests((id) => given.restart(id)),
  create: requests((id) => given.create(id)),
  renew: (store, claims, now) =>
    store.renew(
      claims.map(({ lease }) => ({ lease, begun: [] })),
      now + given.leaseMs,
      now,
    ),
  release: (store, claims, now) =>
    store.release(
      claims.map(({ lease }) => lease),
      now,
    ),
  claim: (store, claims, now) => {
    const workflows = [{ name: claims[0]!.workflowName, concurrency: null }];
    return store.claim(given.claimRequest({ owner: "another", workflows, now }));
  },
  remove: async (store, claims) => {
    for (const { instanceId, workflowName } of claims.slice(0, 2))
      await erased(store, { instanceId, workflowName });
  },
};

let events = 0;

/** As every caller of a store does: contention passes, everything else is a failure of the test. */
async function patiently(act: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await act();
      return;
    } catch (error) {
      const passes = error instanceof StoreError && error.failure === "conflict";
      if (!passes || attempt >= 20) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5 + 5 * attempt));
    }
  }
}

onEachData("pairs", {}, (take) => {
  describe("R-067 (INV-37) every pair of operations on the same runs comes to its end", () => {
    const names = Object.keys(operations);
    test.each(names)("%s, and each of those behind it", async (name) => {
      const { open } = take();
      const [one, other, third] = [open(), open(), open()];
      await one.migrate();
      for (const [n, partner] of names.slice(names.indexOf(name)).entries()) {
        const now = given.at(n * 1000);
        const workflowName = `w${n}`;
        const claims = await claimedRuns(third, workflowName, now);
        const act = operations[name]!;
        const react = operations[partner]!;
        const [first, second] = [claims, claims.toReversed()];
        await Promise.all([
          patiently(() => act(one, first, now + 2)),
          patiently(() => react(other, second, now + 2)),
        ]);
        await expectWhole(third, workflowName);
      }
    });
  });
});

/** Runs in a runner's hands, with an open wait for an event and one on a topic; their leases end a moment later. */
async function claimedRuns(store: Store, workflowName: string, now: number): Promise<readonly Claim[]> {
  const lease = { owner: "holder", until: now + 1 };
  const created = await store.write(
    ids.map((id) => given.create(id, { workflowName, lease })),
    now,
  );
  const claims = created.flatMap((outcome) => (outcome.kind === "created" ? (outcome.claim ?? []) : []));
  expect(claims).toHaveLength(ids.length);
  const steps = [given.awaiting(0, "note", given.never), given.awaitingTopic(1, "news", given.never)];
  await store.write(
    claims.map((claim) => given.commit(claim.lease, given.boundary(1, { steps }))),
    now,
  );
  return claims;
}

/** Every unfinished run that is not paused can still be claimed some day, and no other can (INV-37). */
async function expectWhole(store: Store, workflowName: string): Promise<void> {
  const { items } = await store.listInstances({ workflowName, limit: 100 });
  for (const { status, dueAt } of items) {
    const isSchedulable = status === "active" || status === "waiting";
    if (isSchedulable) expect(dueAt).not.toBeNull();
  }
}
