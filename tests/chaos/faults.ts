/** What goes wrong, and when: a schedule drawn from the seed, and the hand that carries it out. */
import { DatabaseSync } from "node:sqlite";
import type { Fleet, FleetTask, Place } from "./fleet.ts";
import type { Random } from "./random.ts";
import type { NodeCrash, Site } from "./site.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { monotonic, pause } from "./time.ts";

export type FaultKind =
  /** A runner dies. */
  | "kill"
  /** A runner does not get to run for longer than its leases last, and goes on as if nothing had happened. */
  | "freeze"
  /** A runner is asked to stop, as in a deploy. */
  | "leave"
  /** The server dies and comes back with the same data. */
  | "server crash"
  /** The server dies for good, and a standby without its last writes takes its place. */
  | "failover"
  /** The data goes from one node of a cluster to another. */
  | "slot move"
  /** A node of Galera dies and joins the others again. */
  | "node crash"
  /** A node of Galera does not get to run, and the others may go on without it. */
  | "node freeze"
  | "cut all"
  | "cut one"
  | "cut in replies"
  | "delay"
  | "mute"
  /** What is said in one direction is gone for good, and the connections stay open. */
  | "one way"
  | "refuse"
  /** Somebody else holds the file's lock. */
  | "lock";

// Each bag holds every kind, so that none is missing from a run of ordinary length.
const ofAnyStore: readonly FaultKind[] = ["kill", "kill", "kill", "kill", "freeze", "freeze", "leave"];
const ofConnections: readonly FaultKind[] = [
  ...["cut all", "cut one", "cut one", "cut one", "cut in replies", "cut in replies"],
  ...["delay", "delay", "mute", "mute", "one way", "one way", "refuse"],
] as FaultKind[];
const ofServers: readonly FaultKind[] = ["server crash", ...ofConnections];
const ofGalera: readonly FaultKind[] = [...ofConnections, "node crash", "node crash", "node freeze"];
const ofStandbys: readonly FaultKind[] = ["failover", "failover"];
const ofClusters: readonly FaultKind[] = ["slot move", "slot move", "slot move"];
const ofFiles: readonly FaultKind[] = ["lock", "lock"];

export interface Fault {
  readonly atMs: number;
  readonly kind: FaultKind;
}

export function drawSchedule(
  random: Random,
  lengthMs: number,
  { kind, setup }: Pick<Site, "kind" | "setup">,
): Fault[] {
  const ofThisStore = {
    alone: kind === "sqlite" ? ofFiles : ofServers,
    standby: [...ofServers, ...ofStandbys],
    cluster: ofClusters,
    galera: ofGalera,
  }[setup];
  const kinds = [...ofAnyStore, ...ofThisStore];
  const faults: Fault[] = [];
  let bag: FaultKind[] = [];
  for (let atMs = 1000; atMs < lengthMs; atMs += random.between(400, 1200)) {
    if (bag.length === 0) bag = random.shuffled(kinds);
    faults.push({ atMs, kind: bag.pop() as FaultKind });
  }
  return faults;
}

function drawCrash(random: Random, leaseMs: number): NodeCrash {
  return { at: random.between(0, 2), downMs: random.between(0, leaseMs * 2), isBalanced: random.chance(0.5) };
}

/** More frozen runners at once would leave nobody to do the work. */
const frozenMax = 2;

export interface FaultsParts {
  readonly site: Site;
  readonly fleet: Fleet;
  /** The way of the clients. */
  readonly clientProxy: TcpProxy | null;
  readonly random: Random;
  readonly leaseMs: number;
  readonly task: () => FleetTask;
}

export class Faults {
  readonly counts: Partial<Record<FaultKind, number>> = {};
  readonly #parts: FaultsParts;
  readonly #under: Promise<unknown>[] = [];
  #serverIsBack: Promise<unknown> = Promise.resolve();

  constructor(parts: FaultsParts) {
    this.#parts = parts;
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  async carryOut(schedule: readonly Fault[]): Promise<void> {
    const began = monotonic();
    for (const { atMs, kind } of schedule) {
      await pause(began + atMs - monotonic());
      this.keepFull();
      this.#under.push(this.#inject(kind, this.#parts.random.branch()));
    }
  }

  /** Every place has a runner again that is not dead. */
  keepFull(): void {
    const { fleet, task } = this.#parts;
    for (const place of fleet.places) {
      if (place.runner === null || place.runner.fate !== "runs") fleet.start(place, task());
    }
  }

  /** Waits until nothing is wrong any more. */
  async over(): Promise<void> {
    await Promise.all(this.#under);
    for (const proxy of this.#proxies()) await proxy.heal();
  }

  async #inject(kind: FaultKind, random: Random): Promise<void> {
    const happened = await this.#happen(kind, random);
    if (happened !== false) this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }

  #happen(kind: FaultKind, random: Random): Promise<unknown> | unknown {
    const { site, leaseMs } = this.#parts;
    const anyProxy = (): TcpProxy => random.pick(this.#proxies());
    const someProxies = (): TcpProxy[] => (random.chance(0.3) ? this.#proxies() : [anyProxy()]);
    switch (kind) {
      case "kill":
        return this.#toRunner(random, ({ runner }) => runner?.kill());
      case "freeze": {
        const ms = random.between(leaseMs * 1.2, leaseMs * 2);
        const frozen = this.#parts.fleet.places.filter(({ runner }) => runner?.isFrozen);
        return frozen.length < frozenMax && this.#toRunner(random, ({ runner }) => runner?.freeze(ms));
      }
      case "leave":
        return this.#toRunner(random, ({ runner }) => runner?.leave());
      case "server crash":
        return this.#afterOthers(() => site.crashServer(random.between(0, 1500)));
      case "failover":
        return this.#afterOthers(() => site.failOver(random.between(0, leaseMs)));
      case "slot move":
        return this.#afterOthers(() => site.moveSlot(random.between(10, 200)));
      case "node crash":
        return this.#afterOthers(() => site.crashNode(drawCrash(random, leaseMs)));
      case "node freeze":
        return this.#afterOthers(() => site.freezeNode(drawCrash(random, leaseMs)));
      case "cut all":
        for (const proxy of this.#proxies()) proxy.cut();
        return;
      case "cut one":
        return anyProxy().cut((connections) => random.pick(connections)) > 0;
      case "cut in replies":
        return anyProxy().cutInNextReplies() > 0;
      case "delay":
        return this.#for(random.between(800, 2500), someProxies(), {
          begin: (proxy) => proxy.delay(random.between(100, 600)),
          end: (proxy) => proxy.delay(0),
        });
      case "mute": {
        const silence = random.pick(["both ways", "replies"] as const);
        // Longer than a lease: what arrives in the end comes from a runner that others have replaced.
        return this.#for(random.between(leaseMs * 1.1, leaseMs * 2), [anyProxy()], {
          begin: (proxy) => proxy.mute(silence),
          end: (proxy) => proxy.unmute(),
        });
      }
      case "one way": {
        const direction = random.pick(["requests", "replies"] as const);
        return this.#for(random.between(leaseMs * 0.4, leaseMs * 2), [anyProxy()], {
          begin: (proxy) => proxy.lose(direction),
          end: (proxy) => proxy.recover(),
        });
      }
      case "refuse":
        return this.#for(random.between(300, 2500), someProxies(), {
          begin: (proxy) => proxy.refuse(),
          end: (proxy) => proxy.accept(),
        });
      case "lock":
        return this.#lock(random.between(300, 1500));
    }
  }

  /** Servers are done something to one at a time. */
  #afterOthers(act: () => Promise<void>): Promise<unknown> {
    this.#serverIsBack = this.#serverIsBack.then(act);
    return this.#serverIsBack;
  }

  /** Some runner that is up; false if there is none. */
  #toRunner(
    random: Random,
    act: (place: Place) => Promise<void> | void | undefined,
  ): Promise<void> | unknown {
    const up = this.#parts.fleet.places.filter(({ runner }) => runner?.fate === "runs" && !runner.isFrozen);
    return up.length > 0 && act(random.pick(up));
  }

  #proxies(): TcpProxy[] {
    const { fleet, clientProxy } = this.#parts;
    return [...fleet.places.map(({ proxy }) => proxy), clientProxy].filter((proxy) => proxy !== null);
  }

  async #for(
    ms: number,
    proxies: readonly TcpProxy[],
    { begin, end }: Record<"begin" | "end", (proxy: TcpProxy) => Promise<void> | void>,
  ): Promise<void> {
    for (const proxy of proxies) await begin(proxy);
    await pause(ms);
    for (const proxy of proxies) await end(proxy);
  }

  async #lock(ms: number): Promise<void> {
    const database = new DatabaseSync(this.#parts.site.address);
    database.exec("PRAGMA busy_timeout = 200");
    try {
      database.exec("BEGIN IMMEDIATE");
      await pause(ms);
      database.exec("COMMIT");
    } catch {
      // Somebody else holds it: that is as good.
    } finally {
      database.close();
    }
  }
}
