import type { Lease } from "../../model/lease.ts";
import type { StepRecord, WaitingStep } from "../../model/step.ts";
import type {
  Boundary,
  ChangeRequest,
  CommitRequest,
  Next,
  SendEventRequest,
  StoreRequest,
} from "../../store/index.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { createSeededRandom } from "../seeded-random.ts";
import {
  abandon,
  awaiting,
  awaitingTopic,
  begun,
  boundary,
  change,
  commit,
  completed,
  create,
  errored,
  failure,
  logLine,
  publish,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  terminate,
  timedOut,
  value,
} from "./given.ts";

export const instanceIds = ["a", "b", "c", "d", "e"];
export const owners = ["r1", "r2", "r3"];

/** Draws the requests of a random story, one after the other. */
export interface RandomDraws {
  /** Most commits have nothing but steps, log lines, events that they take, and what comes next. */
  readonly plainCommits?: boolean;
}

export class RandomRequests {
  readonly #random: Random;
  readonly #held: readonly HeldLease[];
  readonly #areCommitsPlain: boolean;
  #now = 0;
  #lastId = 0;
  /** Ids of the events that were sent last, for turns that have heard of some. */
  readonly #sentIds: string[] = [];

  /** `held` is the story's own list: the leases that turns of it may use, or misuse. */
  constructor(random: Random, held: readonly HeldLease[], { plainCommits = false }: RandomDraws) {
    this.#random = random;
    this.#held = held;
    this.#areCommitsPlain = plainCommits;
  }

  draw(now: number): ToldRequest {
    this.#now = now;
    const id = this.#random.of(instanceIds);
    const held: HeldLease | undefined = this.#random.of(this.#held);
    const kind = this.#random.of([
      "create",
      "commit",
      "commit",
      "commit",
      "commit",
      "event",
      "event",
      "publish",
      "change",
    ]);
    if (kind === "commit" && held !== undefined) return this.#commit(held);
    if (kind === "publish") return constant(publish(this.#id("p", 4), "news", { createdAt: this.#now }));
    if (kind === "event") return this.#event(id);
    if (kind === "change") return this.#change(id, held);
    return constant(
      create(id, {
        params: value(this.#now),
        createdAt: this.#now,
        dueAt: this.#now + this.#random.of([0, 0, 300]),
        retentionMs: this.#random.of([null, 1000]),
        history: this.#random.of([[], [], this.#forkedHistory(), [completed(1), completed(2)]]),
        parent: this.#random.of([null, null, ref("a")]),
        lease: this.#random.of([null, null, { owner: this.#random.of(owners), until: this.#now + 100 }]),
      }),
    );
  }

  #forkedHistory(): readonly StepRecord[] {
    return [completed(1), sleeping(2, this.#now + 50, { createdAt: this.#now })];
  }

  #commit(held: HeldLease): ToldRequest {
    const ahead = this.#random.of([1, 1, 1, 1, 1, 1, 0, 2]);
    if (ahead === 0 && held.last !== undefined) return held.last;
    const number = held.number + Math.max(1, ahead);
    const made = this.#boundary(number, held);
    const leaseUntil = this.#random.of([this.#now + 100, this.#now + 600, 0]);
    const alongside = this.#random.of([
      [],
      [],
      [create(this.#random.of(instanceIds), { createdAt: this.#now })],
      [this.#sent(this.#random.of(instanceIds))],
    ]);
    const announce = this.#announcement();
    const isPlain = this.#areCommitsPlain && this.#random.upTo(5) > 0;
    const request: ToldRequest = isPlain
      ? (side) => commit(held.leases[side], plainOf(made), { leaseUntil })
      : (side) => commit(held.leases[side], made, { leaseUntil, alongside, ...announce });
    if (ahead === 2) return request;
    held.number = number;
    held.last = request;
    return request;
  }

  #announcement(): Pick<CommitRequest, "announce"> {
    const announce = create(this.#random.of(instanceIds), { createdAt: this.#now });
    return this.#random.of([{}, {}, {}, { announce }]);
  }

  #boundary(number: number, { waits }: HeldLease): Boundary {
    const wakeAt = this.#now + this.#random.of([0, 5, 300, 2000]);
    const index = this.#random.upTo(6) + 1;
    const facts = { createdAt: this.#now };
    const settled = { ...facts, settledAt: this.#now };
    const step = this.#random.of<StepRecord | undefined>([
      undefined,
      completed(index, { ...settled, result: value(this.#now) }),
      errored(index, settled),
      sleeping(index, wakeAt, facts),
      awaiting(index, this.#random.of(["x", "y"]), wakeAt, facts),
      awaiting(index, this.#random.of(["x", "y"]), wakeAt, facts),
      { ...awaitingTopic(9, "news", wakeAt), ...facts },
    ]);
    const over: WaitingStep | undefined = this.#random.of(waits);
    const timesOut = over !== undefined && over.index !== step?.index && this.#random.upTo(2) === 0;
    const more = this.#random.of<readonly StepRecord[]>([
      [],
      [],
      [completed(7 + this.#random.upTo(2), settled)],
      [awaiting(10 + this.#random.upTo(2), "y", wakeAt, facts), completed(12, settled)],
    ]);
    const steps = [
      ...(step === undefined ? [] : [step]),
      ...more.filter(({ index }) => index !== over?.index),
    ];
    for (const each of steps) if (each.status === "waiting") waits.push(each);
    return boundary(number, {
      ...this.#doubts(number),
      steps,
      timeouts: timesOut ? [{ wait: over, settled: timedOut(over) }] : [],
      consumed: this.#random.of([[], [], [{ seq: this.#random.upTo(4) + 1, stepKey: `step ${index}#1` }]]),
      eventSeqSeen: this.#random.of([0, 0, 0, 1, 3, 100]),
      logs: this.#random.of([[], [logLine(`at ${this.#now}`)]]),
      begun: this.#random.of([[], [begun("body")]]),
      next: this.#next(wakeAt),
    });
  }

  /** What a commit says only now and then. */
  #doubts(number: number): Pick<Boundary, "noProgress" | "after" | "heard"> {
    const heard = Array.from({ length: this.#random.upTo(3) }, () => ({
      seq: this.#random.upTo(3) + 1,
      id: this.#random.of(this.#sentIds) ?? "none",
    }));
    return this.#random.of<Pick<Boundary, "noProgress" | "after" | "heard">>([
      {},
      {},
      {},
      { noProgress: true },
      { after: number - 1 },
      { after: number - 2 },
      { heard },
      { heard },
    ]);
  }

  #next(dueAt: number): Next {
    const onward: Next[] = [
      { kind: "continue" },
      { kind: "suspend", dueAt, task: "wake" },
      { kind: "suspend", dueAt: dueAt + 1000, task: "retry" },
      { kind: "yield", dueAt },
    ];
    const ending: Next[] = [
      { kind: "complete", output: value(this.#now) },
      { kind: "error", error: failure("e"), deadLetter: this.#random.of([true, false]) },
      { kind: "terminate", reason: { source: "maxRunDuration", message: null } },
    ];
    return this.#random.of(this.#random.upTo(8) === 0 ? ending : onward);
  }

  #event(id: string): ToldRequest {
    return constant(this.#sent(id));
  }

  #sent(id: string): SendEventRequest {
    const createdAt = this.#now - this.#random.of([0, 0, 400]);
    const system = this.#random.of([false, false, true]);
    const forStep = this.#random.of([null, null, "step 2#1"]);
    const type = this.#random.of(["x", "y", "z", null]);
    const eventId = this.#id("e", 12);
    this.#sentIds.unshift(eventId);
    this.#sentIds.length = Math.min(this.#sentIds.length, 4);
    const logs = this.#random.of([{}, {}, { logs: [logLine(`sent ${this.#now}`)] }]);
    return sendEvent(id, eventId, type, { createdAt, system, forStep, bufferMax: 3, ...logs });
  }

  #change(id: string, held: HeldLease | undefined): ToldRequest {
    const drop = [this.#random.upTo(5) + 1];
    const dueAt = this.#now + 50;
    const reopen = sleeping(this.#random.upTo(5) + 1, dueAt, { createdAt: this.#now });
    const request = this.#random.of<StoreRequest | "wake">([
      change(id, { kind: "pause" }, { statuses: ["active", "waiting"] }),
      change(id, { kind: "pause" }, { statuses: ["active", "waiting"], runNumber: 1 }),
      resume(id, this.#random.of([true, false])),
      resume(id),
      terminate(id),
      restart(id, this.#random.of([[], [completed(1)]])),
      change(
        id,
        { kind: "retryStep", reopen, drop, releaseEventsOf: ["step 1#1"], dueAt },
        { statuses: ["errored"] },
      ),
      abandon(
        this.#random.of(owners),
        this.#random.of([
          { kind: "expire" },
          { kind: "error", error: failure("gone") },
          { kind: "release", token: held?.leases[0].token ?? 1 },
        ]),
      ),
      "wake",
    ]);
    if (request !== "wake")
      return constant(request.kind === "change" ? this.#decided(request, held) : request);
    if (held === undefined) return constant(terminate(id));
    return (side) => ({ kind: "wake", runId: held.leases[side].runId, token: held.leases[side].token });
  }

  /** A change with what may come with it: lines for the log, an announcement, an id that was used, a token it is meant for. */
  #decided(request: ChangeRequest, held: HeldLease | undefined): ChangeRequest {
    const extra = this.#random.of<Partial<ChangeRequest>>([
      {},
      {},
      { logs: [logLine(`by ${this.#now}`), logLine("two")] },
      this.#announcement(),
      { id: `decision ${this.#random.upTo(8)}` },
    ]);
    if (held === undefined || this.#random.upTo(5) > 0) return { ...request, ...extra };
    const token = held.leases[0].token + this.#random.upTo(2);
    return { ...request, ...extra, when: { ...request.when, token } };
  }

  #id(prefix: string, count: number): string {
    this.#lastId += 1;
    return `${prefix}${this.#random.upTo(5) === 0 ? this.#random.upTo(count) : `new ${this.#lastId}`}`;
  }
}

/** A lease as each of the two stores gave it, how far its numbers have come, and the commit that came last. */
export interface HeldLease {
  readonly leases: readonly [Lease, Lease];
  number: number;
  last: ToldRequest | undefined;
  /** Waits of the run that the turn knows of. */
  readonly waits: WaitingStep[];
}

/** A request, to be told to either side in the names that side uses for its runs. */
export type ToldRequest = (side: 0 | 1) => StoreRequest;

/** Choices that repeat with their seed. */
export class Random {
  readonly #source: SeededRandom;

  constructor(seed: number) {
    this.#source = createSeededRandom(seed);
  }

  /** Uniform in 0..max-1. */
  upTo(max: number): number {
    return Math.floor(this.#source.float() * max);
  }

  of<Item>(items: readonly Item[]): Item {
    return items[this.upTo(items.length)] as Item;
  }
}

function plainOf({ after: _after, noProgress: _noProgress, heard: _heard, ...boundary }: Boundary): Boundary {
  const { steps, next } = boundary;
  const settled = next.kind === "suspend" ? steps : steps.filter(({ status }) => status !== "waiting");
  return { ...boundary, steps: settled, timeouts: [] };
}

function constant(request: StoreRequest): () => StoreRequest {
  return () => request;
}
