/** Apps for stories: what their bodies did is written down, and a body can be held. */
import {
  type App,
  createWorkflows,
  defineWorkflow,
  type WorkflowDefinition,
  type WorkflowEvent,
} from "everstep";
import type { ClaimRequest, Store, StoreOutcome } from "everstep/store";
import { lookFor } from "../chaos/time.ts";

export interface TripParams {
  /** Waits for an event "go" before it ends. */
  readonly waits?: boolean;
}

/** Each body gives a word of its own: who ran it, and the how-manieth of all bodies it was. */
export interface TripOutput {
  readonly one: string;
  readonly two: string;
  readonly three: string;
}

type Trips = Record<"TRIP", WorkflowDefinition<TripParams>>;
export type TripApp = App<Trips>;

const patienceMs = 30_000;
const longLeaseMs = 600_000;

export class Book {
  /** "A x two": process A began the body of step "two" of instance "x". */
  readonly begins: string[] = [];
  readonly #held = new Map<string, () => void>();
  readonly #gates = new Map<string, Promise<void>>();

  /** The body waits when it begins, until it is let go. */
  hold(body: string): void {
    this.#gates.set(body, new Promise((resolve) => this.#held.set(body, resolve)));
  }

  letGo(body: string): void {
    this.#gates.delete(body);
    this.#held.get(body)?.();
  }

  async run(body: string): Promise<string> {
    const word = `${body} ${this.begins.push(body)}`;
    await this.#gates.get(body);
    return word;
  }

  beginsOf(body: string): number {
    return this.begins.filter((each) => each === body).length;
  }

  async until(body: string, times = 1): Promise<void> {
    await sign(`${body} begins, time ${times}`, () => this.beginsOf(body) >= times || undefined);
  }
}

export interface TripSettings {
  readonly who: string;
  readonly book: Book;
  /** So long that nobody is told by a renewal what stories want to see at a commit. */
  readonly leaseMs?: number;
  /** With one, a process that is at a body takes nothing else. */
  readonly concurrency?: number;
}

export function openTrips(
  store: Store,
  { who, book, leaseMs = longLeaseMs, concurrency = 20 }: TripSettings,
): TripApp {
  const trip = defineWorkflow(
    { name: "trip" },
    async ({ payload, instanceId }: WorkflowEvent<TripParams>, step): Promise<TripOutput> => {
      const run = (name: string) => step.do(name, () => book.run(`${who} ${instanceId} ${name}`));
      const one = await run("one");
      const two = await run("two");
      if (payload?.waits) await step.waitForEvent("go", { type: "go", timeout: "1 hour" });
      else await step.sleep("a moment", 30);
      return { one, two, three: await run("three") };
    },
  );
  return createWorkflows({
    workflows: { TRIP: trip },
    store,
    runner: { lease: leaseMs, poll: 100, minPoll: 50, maxPoll: 200, concurrency },
    onNotice: () => {},
    onProblem: () => {},
  }) as TripApp;
}

/** A store of a process of which one wants to know who it is, and what became of its commits. */
export class Watched {
  readonly outcomes: StoreOutcome["kind"][] = [];
  readonly store: Store;
  /** By which its leases are known. */
  owner = "";
  /** A look at what has its turn finds nothing wrong, so that the process learns of a loss at its next commit. */
  seesNoLoss = false;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        if (name === "write") return (...args: Parameters<Store["write"]>) => this.#write(target, ...args);
        if (name === "claim") return (request: ClaimRequest) => this.#claim(target, request);
        if (name === "getStatuses" && this.seesNoLoss) return activeOf;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #write(store: Store, ...args: Parameters<Store["write"]>): Promise<readonly StoreOutcome[]> {
    const outcomes = await store.write(...args);
    const [requests] = args;
    for (const [at, outcome] of outcomes.entries())
      if (requests[at]?.kind === "commit") this.outcomes.push(outcome.kind);
    return outcomes;
  }

  #claim(store: Store, request: ClaimRequest): ReturnType<Store["claim"]> {
    this.owner = request.owner;
    return store.claim(request);
  }
}

const activeOf: Store["getStatuses"] = async (refs) => refs.map(() => "active");

export async function sign<Found>(
  what: string,
  look: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found> {
  const found = await lookFor(look, { withinMs: patienceMs });
  if (found === undefined) throw new Error(`It did not happen in ${patienceMs} ms: ${what}.`);
  return found;
}
