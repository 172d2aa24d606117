/**
 * Turns that began before the store went back in time and have not heard of it: what they know may be gone. They may go on
 * until the store answers them, or until their lease is over by their own clock, and so long nobody can hold them to what is
 * recorded now.
 */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim, Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { RenewAnswer, Renewal, StoreOutcome } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Entry } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { runName } from "../../../packages/everstep/src/testing/simulate/watch.ts";

export interface StaleTurnsParts {
  /** How long an answer is on its way at most. */
  readonly answerMsMax: number;
  readonly leaseMs: number;
  readonly now: () => number;
}

/** What a process does with a run under one lease. */
interface Turn {
  /** The process and the name of the run. */
  readonly key: string;
  readonly runId: RunId;
  /** The number of its newest commit that took effect, though it may be lost. */
  commit: number;
  /** Nothing begins in it any more. */
  isOver: boolean;
  /** It was there when the store went back for the last time, or at least its lease was. */
  isOlder: boolean;
  /** When it was first answered since then. */
  answeredAt: number | null;
  /** Since when its lease may go on without another answer. */
  heldSince: number;
}

export class StaleTurns {
  readonly #parts: StaleTurnsParts;
  /** Calls that took effect since the store went back for the last time. */
  #fresh = new WeakSet<StoreCall>();
  readonly #byLease = new Map<string, Turn>();
  readonly #byRun = new Map<string, readonly Turn[]>();

  constructor(parts: StaleTurnsParts) {
    this.#parts = parts;
  }

  wentBack(): void {
    this.#fresh = new WeakSet();
    const now = this.#parts.now();
    for (const [key, turns] of this.#byRun) {
      const open = turns.filter(({ isOver }) => !isOver);
      for (const turn of open) Object.assign(turn, { isOlder: true, answeredAt: null, heldSince: now });
      this.#byRun.set(key, open);
    }
  }

  /** It took effect; nobody knows whether its process will hear of it. */
  applied(member: Member, call: StoreCall, answer: unknown): void {
    const { method, requests } = call;
    this.#fresh.add(call);
    for (const claim of claimsIn(method, answer)) this.#takes(member, claim);
    for (const [at, request] of requests.entries()) {
      const outcome = (answer as readonly StoreOutcome[])[at]?.kind;
      if (request.kind !== "commit" || (outcome !== "committed" && outcome !== "paused")) continue;
      const turn = this.#turnOf(member, request.lease);
      if (turn === undefined) continue;
      const { number, next } = request.boundary;
      turn.commit = Math.max(turn.commit, number);
      // All that it builds on is there.
      this.#hears(turn, { isOver: next.kind !== "continue" });
    }
  }

  /** Its process has the answer. One that was on its way when the store went back does not tell of it. */
  answered(member: Member, call: StoreCall, answer: unknown): void {
    if (!this.#fresh.has(call)) return;
    const { method, requests, args } = call;
    for (const claim of claimsIn(method, answer)) this.#hasTaken(member, claim);
    for (const [at, request] of requests.entries()) {
      if (request.kind !== "commit") continue;
      const isOver = (answer as readonly StoreOutcome[])[at]?.kind === "superseded";
      this.#hears(this.#turnOf(member, request.lease), { isOver });
    }
    if (method !== "renew") return;
    for (const [at, renewal] of (args[0] as readonly Renewal[]).entries())
      this.#hearsOfLease(member, renewal, (answer as readonly RenewAnswer[])[at]);
  }

  isStale({ member, run }: Pick<Entry, "member" | "run">): boolean {
    return this.#turnsOf(member, run).some((turn) => this.#isStale(turn));
  }

  /** Nobody can tell whether it is of a run that is lost or of the one that has its name now. */
  isEither({ member, run }: Pick<Entry, "member" | "run">): boolean {
    const turns = this.#turnsOf(member, run);
    return turns.some((turn) => this.#isStale(turn) && turns.some(({ runId }) => runId !== turn.runId));
  }

  #isStale({ isOlder, answeredAt, heldSince }: Turn): boolean {
    if (!isOlder) return false;
    const { answerMsMax, leaseMs, now } = this.#parts;
    // It may still be there while what replaces it is on its way.
    return now() <= (answeredAt ?? heldSince + leaseMs) + answerMsMax;
  }

  #takes(member: Member, claim: Claim): void {
    const leaseKey = leaseKeyOf(member, claim.lease);
    // A repeated creation hands the same claim out again.
    if (this.#byLease.has(leaseKey)) return;
    const key = keyOf(member, runName(claim));
    const { runId } = claim.lease;
    const turn: Turn = {
      key,
      runId,
      commit: 0,
      isOver: false,
      isOlder: false,
      answeredAt: null,
      heldSince: 0,
    };
    this.#byLease.set(leaseKey, turn);
    this.#byRun.set(key, [...(this.#byRun.get(key) ?? []), turn]);
  }

  /** Its turn replaces earlier ones with the same run. */
  #hasTaken(member: Member, claim: Claim): void {
    const taken = this.#turnOf(member, claim.lease);
    this.#hears(taken);
    for (const turn of this.#turnsOf(member, runName(claim)))
      if (turn !== taken && turn.runId === taken?.runId) this.#hears(turn, { isOver: true });
  }

  #hearsOfLease(member: Member, { lease, applied = 0 }: Renewal, answer: RenewAnswer | undefined): void {
    const turn = this.#turnOf(member, lease);
    if (turn === undefined || answer === undefined || answer.kind === "busy") return;
    // The answer to a commit that is lost may still be on its way: the next renewal tells of it.
    if (answer.kind === "renewed" && applied < turn.commit) turn.heldSince = this.#parts.now();
    else this.#hears(turn, { isOver: answer.kind === "lost" });
  }

  #hears(turn: Turn | undefined, { isOver }: Pick<Turn, "isOver"> = { isOver: false }): void {
    if (turn === undefined) return;
    turn.answeredAt ??= this.#parts.now();
    turn.isOver ||= isOver;
  }

  #turnOf(member: Member, lease: Lease): Turn | undefined {
    return this.#byLease.get(leaseKeyOf(member, lease));
  }

  #turnsOf(member: Member, run: string): readonly Turn[] {
    return this.#byRun.get(keyOf(member, run)) ?? [];
  }
}

function claimsIn(method: StoreCall["method"], answer: unknown): readonly Claim[] {
  if (method === "claim") return answer as readonly Claim[];
  if (method !== "write") return [];
  return (answer as readonly StoreOutcome[]).flatMap((outcome) =>
    outcome.kind === "created" && outcome.claim ? [outcome.claim] : [],
  );
}

function keyOf({ number }: Member, run: string): string {
  return `${number} ${run}`;
}

function leaseKeyOf({ number }: Member, { runId, token }: Lease): string {
  return `${number} ${runId} ${token}`;
}
