import { terminalStatuses } from "../../model/instance.ts";
import type { Claim, Lease } from "../../model/lease.ts";
import type { WaitingStep } from "../../model/step.ts";
import type { Store, StoreOutcome } from "../../store/index.ts";
import { everyPage, write } from "./acts.ts";
import { equal } from "./check.ts";
import { at, begun, claimRequest, deletion, ref, workflow } from "./given.ts";
import {
  type HeldLease,
  instanceIds,
  owners,
  Random,
  type RandomDraws,
  RandomRequests,
} from "./random-requests.ts";
import { RunNames } from "./run-names.ts";

/**
 * Tells two stores the same story, drawn from a seed, and compares every answer. Nothing in it is careful: leases are
 * used after they are lost, numbers repeat and skip, events come late, pauses come at any time.
 */
export class RandomStory {
  readonly #stores: readonly [Store, Store];
  readonly #names: readonly [RunNames, RunNames] = [new RunNames(), new RunNames()];
  readonly #random: Random;
  readonly #requests: RandomRequests;
  readonly #held: HeldLease[] = [];
  #now = at(0);

  constructor(stores: readonly [Store, Store], seed: number, draws: RandomDraws = {}) {
    this.#stores = stores;
    this.#random = new Random(seed);
    this.#requests = new RandomRequests(this.#random, this.#held, draws);
  }

  async tell(turns: number): Promise<void> {
    for (let turn = 1; turn <= turns; turn += 1) {
      this.#now += this.#random.of([0, 0, 1, 10, 500]);
      await this.#random
        .of([this.#write, this.#write, this.#write, this.#claim, this.#claim, this.#keep])
        .call(this);
      if (turn % 10 === 0) await this.#compareRecords();
    }
    await this.#compareRecords();
  }

  async #write(): Promise<void> {
    const requests = Array.from({ length: this.#random.upTo(3) + 1 }, () => this.#requests.draw(this.#now));
    const [mine, theirs] = (await this.#compare("write", (store, side) =>
      store.write(
        requests.map((request) => request(side)),
        this.#now,
      ),
    )) as [StoreOutcome[], StoreOutcome[]];
    for (const [n, outcome] of mine.entries()) {
      const leases = [leaseOf(outcome), leaseOf(theirs[n])] as const;
      if (leases[0] && leases[1]) this.#hold([leases[0], leases[1]], []);
    }
  }

  /** The oldest are forgotten. */
  #hold(leases: HeldLease["leases"], waits: WaitingStep[]): void {
    this.#held.push({ leases, number: 0, last: undefined, waits });
    while (this.#held.length > 5) this.#held.shift();
  }

  async #claim(): Promise<void> {
    const request = claimRequest({
      now: this.#now,
      owner: this.#random.of(owners),
      workflows: [{ name: workflow, concurrency: this.#random.of([null, null, 2]) }],
      limit: this.#random.of([1, 3]),
      leaseUntil: this.#now + this.#random.of([50, 600]),
      ...this.#random.of([
        {},
        {},
        {},
        ...[0, 30, 400, this.#now].map((ms) => ({ excusedFrom: this.#now - ms })),
      ]),
    });
    const [mine, theirs] = (await this.#compare("claim", (store) => store.claim(request))) as [
      Claim[],
      Claim[],
    ];
    for (const [n, { lease }] of mine.entries()) {
      const [history] = await this.#stores[0].readRuns([{ runId: lease.runId, steps: true, eventsAfter: 0 }]);
      const steps = history?.kind === "history" ? history.steps : [];
      const waits = steps.filter((step): step is WaitingStep => step.status === "waiting");
      this.#hold([lease, (theirs[n] as Claim).lease], waits);
    }
  }

  /** Everything that is not a write or a claim. */
  async #keep(): Promise<void> {
    const held: HeldLease | undefined = this.#random.of(this.#held);
    const act = this.#random.of(["renew", "renew", "renew", "release", "prune", "remove"]);
    const until = this.#now + 300;
    if (act === "prune") {
      await this.#compare("prune", (store) => store.prune({ before: this.#now - 2000, limit: 100 }));
    } else if (act === "remove" && this.#random.upTo(4) === 0) {
      const id = this.#random.of(instanceIds);
      const when = this.#random.of([{}, {}, {}, { statuses: terminalStatuses }]);
      await this.#compare("delete", (store) => write(store, deletion(ref(id), when), this.#now));
    } else if (act === "renew" && held !== undefined) {
      const bodies = [begun(`at ${this.#now}`)];
      const { number } = held;
      const known = this.#random.of([
        {},
        { commit: number },
        { commit: number + 1, applied: number },
        { commit: number, applied: Math.max(0, number - 1) },
        { applied: number + 1 },
      ]);
      await this.#compare("renew", (store, side) =>
        store.renew([{ lease: held.leases[side], begun: bodies, ...known }], until, this.#now),
      );
    } else if (act === "release" && held !== undefined) {
      const later = this.#random.of([{}, { retryAt: this.#now + 40 }, { retryAt: this.#now - 10 }]);
      await this.#compare("release", (store, side) =>
        store.release([{ ...held.leases[side], ...later }], this.#now),
      );
    }
  }

  async #compareRecords(): Promise<void> {
    await this.#compare("counts", (store) => store.countByStatus());
    await this.#compare("next due time", (store) => store.nextDueAt([workflow]));
    await this.#compare("due", (store) => store.listDue({ before: this.#now + 100_000, limit: 100 }));
    await this.#compare("topics", (store) => store.listTopics({ limit: 100 }));
    await this.#compare("list", (store) => everyPage((query) => store.listInstances(query), 2));
    await this.#compare("waiters", (store) => everyPage((query) => store.listWaiters("news", query), 2));
    for (const id of instanceIds) {
      await this.#compare(`records of "${id}"`, async (store) => {
        const runs = await store.listRuns(ref(id), 50);
        return Promise.all(runs.map(async (run) => ({ run, ...(await recordsOf(store, run.runId)) })));
      });
    }
  }

  /** Both stores' answers, equal but for the names of runs. */
  async #compare(
    what: string,
    ask: (store: Store, side: 0 | 1) => Promise<unknown>,
  ): Promise<[unknown, unknown]> {
    const mine = await ask(this.#stores[0], 0);
    const theirs = await ask(this.#stores[1], 1);
    const [ours, others] = [this.#names[0].replacedIn(mine), this.#names[1].replacedIn(theirs)];
    equal(ours, others, `${what} at ${this.#now - at(0)} ms, this store against the reference`);
    return [mine, theirs];
  }
}

async function recordsOf(store: Store, runId: Lease["runId"]): Promise<object> {
  const [history] = await store.readRuns([{ runId, steps: true, eventsAfter: 0 }]);
  const events = await everyPage((query) => store.listEvents(runId, query), 3);
  const logs = await everyPage((query) => store.listLogs(runId, query), 3);
  return { history, events, logs: logs.map((line) => line.message) };
}

function leaseOf(outcome: StoreOutcome | undefined): Lease | undefined {
  return outcome?.kind === "created" ? outcome.claim?.lease : undefined;
}
