/** Two namespaces of one database: what is in the one is not there for the other, whichever verb asks. */
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "everstep/sqlite";
import type { Lease, Store } from "everstep/store";
import { afterEach, describe, expect, test } from "vitest";
import { erased } from "../../packages/everstep/src/testing/store-contract/acts.ts";
import * as given from "../regressions/given.ts";
import { Namespaces, serverStores } from "../support/server-stores.ts";

const cleanUps: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const act of cleanUps.splice(0).reverse()) await act();
});

/** Opens another handle on the one or the other; closed after the test. */
interface Pair {
  mine(): Store;
  theirs(): Store;
}

function pair(open: (namespace: string) => Store, names: readonly [string, string]): Pair {
  const opened = (name: string) => () => {
    const store = open(name);
    cleanUps.push(() => store.close());
    return store;
  };
  return { mine: opened(names[0]), theirs: opened(names[1]) };
}

const pairs: Record<string, () => Pair> = {
  sqlite() {
    const folder = mkdtempSync(join(tmpdir(), "everstep-namespaces-"));
    cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
    return pair((namespace) => sqlite({ path: join(folder, "app.db"), namespace }), ["tenant", "tenant_b"]);
  },
};
for (const server of serverStores) {
  if (server.url === undefined) continue;
  const namespaces = new Namespaces(server);
  pairs[server.name] = () => {
    const names = [namespaces.take(), namespaces.take()] as const;
    for (const name of names) cleanUps.push(() => namespaces.giveBack(name));
    return pair((namespace) => server.open(namespace), names);
  };
}

function take(name: string): readonly [mine: Store, theirs: Store, pair: Pair] {
  const made = pairs[name]?.();
  if (!made) throw new Error(`There is no ${name}.`);
  return [made.mine(), made.theirs(), made];
}

const { at } = given;
const page = { limit: 10 };
const order = [{ name: given.workflow, concurrency: null }];

/** An instance with everything there is, held by a runner, and one that waits. */
async function furnish(store: Store): Promise<Lease> {
  await store.migrate();
  await store.write([given.create("held"), given.create("waiting", { dueAt: at(1) })], at(0));
  const [held] = await store.claim(given.claimRequest({ now: at(0), limit: 1 }));
  const [waiting] = await store.claim(given.claimRequest({ now: at(1), limit: 1 }));
  const steps = [
    given.completed(0),
    given.awaiting(1, "note", given.never),
    given.awaitingTopic(2, "news", given.never),
  ];
  const logs = [given.logLine("hello")];
  for (const [claim, next] of [
    [held, { kind: "continue" }],
    [waiting, given.suspendUntil(at(5))],
  ] as const)
    await store.write([given.commit(claim!.lease, given.boundary(1, { steps, logs, next }))], at(1));
  await store.write([given.sendEvent("held", "e-held", "other")], at(2));
  return held!.lease;
}

async function everything(store: Store, { runId }: Lease) {
  return {
    instances: (await store.listInstances({ ...page, order: "asc" })).items,
    steps: (await store.listSteps(runId, page)).items,
    events: (await store.listEvents(runId, page)).items,
    logs: (await store.listLogs(runId, page)).items,
    waiters: (await store.listWaiters("news", page)).items,
    topics: (await store.listTopics(page)).items,
    wanting: await store.listDue({ before: given.never, limit: 10 }),
    counts: await store.countByStatus(),
    due: await store.nextDueAt([given.workflow]),
  };
}

describe.each(Object.keys(pairs))("namespaces (%s)", (name) => {
  test("SEC-21 everything of another namespace is absent for every verb that reads", async () => {
    const [mine, theirs] = take(name);
    const lease = await furnish(theirs);
    await mine.migrate();
    const { runId } = lease;
    expect(await mine.getInstance(given.ref("held"))).toBeUndefined();
    expect(await mine.getInstance(given.ref("held"), 1)).toBeUndefined();
    expect(await mine.getInstances([given.ref("held"), given.ref("waiting")])).toEqual([
      undefined,
      undefined,
    ]);
    expect(await mine.getStatuses([given.ref("held"), given.ref("waiting")])).toEqual([undefined, undefined]);
    expect((await mine.listInstances(page)).items).toEqual([]);
    expect((await mine.listInstances({ ...page, workflowName: given.workflow })).items).toEqual([]);
    expect(await mine.listRuns(given.ref("held"), 10)).toEqual([]);
    expect((await mine.listSteps(runId, page)).items).toEqual([]);
    expect((await mine.listEvents(runId, page)).items).toEqual([]);
    expect((await mine.listLogs(runId, page)).items).toEqual([]);
    expect((await mine.listInstances({ ...page, idPrefix: "h", createdFrom: 0 })).items).toEqual([]);
    expect((await mine.listWaiters("news", page)).items).toEqual([]);
    expect((await mine.listTopics(page)).items).toEqual([]);
    expect(await mine.listDue({ before: given.never, limit: 10 })).toEqual([]);
    expect(await mine.readRuns([{ runId, steps: true, eventsAfter: 0 }])).toEqual([]);
    expect(Object.values(await mine.countByStatus()).every((count) => count === 0)).toBe(true);
    expect(await mine.nextDueAt([given.workflow])).toBeNull();
  });

  test("SEC-21 and for every verb that writes, which changes nothing there", async () => {
    const [mine, theirs] = take(name);
    const lease = await furnish(theirs);
    await mine.migrate();
    const before = await everything(theirs, lease);
    expect(await mine.claim(given.claimRequest({ now: given.never, workflows: order }))).toEqual([]);
    expect(await mine.renew([{ lease, begun: [] }], given.never, at(3))).toEqual([{ kind: "lost" }]);
    await mine.release([lease], at(3));
    const told = await mine.write(
      [
        given.commit(lease, given.boundary(2, { next: given.complete() })),
        given.sendEvent("held", "e-1", "note"),
        given.publish("p-1", "news"),
        given.pause("held"),
        given.resume("held"),
        given.restart("held"),
        given.terminate("held"),
        { kind: "wake", runId: lease.runId, token: lease.token },
        given.abandon(lease.owner),
        given.abandon(lease.owner, { kind: "error", error: given.failure("gone") }),
      ],
      at(3),
    );
    expect(told).toMatchObject([
      { kind: "superseded" },
      { kind: "not-found" },
      { kind: "published", waiters: 0 },
      { kind: "not-found" },
      { kind: "not-found" },
      { kind: "not-found" },
      { kind: "not-found" },
      { kind: "ignored" },
      { kind: "abandoned", runs: 0 },
      { kind: "abandoned", runs: 0 },
    ]);
    expect(await erased(mine, given.ref("held"))).toBe(false);
    expect(await mine.prune({ before: given.never, limit: 100, publicationsBefore: given.never })).toBe(0);
    expect(await everything(theirs, lease)).toEqual(before);
  });

  test("SEC-21 the same ids are free here: of instances, events and publications", async () => {
    const [mine, theirs] = take(name);
    const lease = await furnish(theirs);
    await theirs.write([given.publish("p-1", "news")], at(3));
    await mine.migrate();
    const told = await mine.write(
      [given.create("held"), given.sendEvent("held", "e-held", "note"), given.publish("p-1", "news")],
      at(3),
    );
    expect(told).toMatchObject([
      { kind: "created" },
      { kind: "accepted", duplicate: false },
      { kind: "published", waiters: 0, duplicate: false },
    ]);
    const before = await everything(theirs, lease);
    expect(await erased(mine, given.ref("held"))).toBe(true);
    expect(await everything(theirs, lease)).toEqual(before);
  });

  test("SEC-21 nudges of the one do not reach the other", async (context) => {
    const [mine, theirs, { mine: openMine, theirs: openTheirs }] = take(name);
    if (!mine.subscribe || !theirs.subscribe) return context.skip();
    for (const store of [mine, theirs]) await store.migrate();
    const heard = { mine: 0, theirs: 0 };
    const arrivals = new EventEmitter();
    for (const [who, store] of [
      ["mine", mine],
      ["theirs", theirs],
    ] as const) {
      const onNudge = (): void => {
        heard[who]++;
        arrivals.emit(who);
      };
      cleanUps.push((await store.subscribe?.({ onNudge, onLost() {} })) ?? (() => {}));
    }
    const [ofMine, ofTheirs] = [once(arrivals, "mine"), once(arrivals, "theirs")];
    // Nobody heeds nudges of its own, so others write. What comes first would be heard first.
    await openTheirs().write([given.create("i")], at(0));
    await ofTheirs;
    await openMine().write([given.create("i")], at(0));
    await ofMine;
    expect(heard).toEqual({ mine: 1, theirs: 1 });
  });
});
