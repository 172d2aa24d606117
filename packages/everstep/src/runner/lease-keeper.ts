import type { Turn } from "../engine/turn.ts";
import { LeaseLostError } from "../engine/turn-errors.ts";
import { StoreError } from "../model/error.ts";
import type { RunId } from "../model/instance.ts";
import { type Lease, leaseEnd } from "../model/lease.ts";
import type { LeaseLoss } from "../model/observer.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import type { Store } from "../store/store.ts";
import { Outages } from "./outages.ts";

interface HeldLease {
  /** By the monotonic clock: since when it is held. */
  readonly since: number;
  readonly lease: Lease;
  readonly turn: Turn;
  /** By the monotonic clock, taken before the store was asked: never later than the store's own end. */
  heldUntil: number;
  /** The store's own end of it, by its clock. */
  endsAt: number;
}

/** A renewal that failed is tried again after this long at most. */
const retryMsMax = 1000;

/**
 * Renews the leases of turns in progress every third of their length, and knows by its own monotonic clock which ones
 * are still held. A turn whose lease could not be renewed in time is stopped here, before anyone else may take it.
 *
 * A renewal without an answer is given up after a sixth of a lease and tried again within a second, on another
 * connection: one connection that has fallen silent costs nobody its lease, nor do two.
 */
export class LeaseKeeper {
  readonly #store: Store;
  readonly #runtime: Runtime;
  readonly #leaseMs: number;
  readonly #freshenClock: () => Promise<void> | null;
  readonly #outages: Outages;
  readonly #held = new Map<RunId, HeldLease>();
  #timer: Timer | null = null;
  #watch: Timer | null = null;
  /** When the watch looks next, by the monotonic clock. */
  #watchAt = Number.POSITIVE_INFINITY;
  #renewing: Promise<void> | null = null;

  /** `freshenClock` is waited for where the clock cannot be trusted. */
  constructor(
    store: Store,
    runtime: Runtime,
    leaseMs: number,
    freshenClock: () => Promise<void> | null = () => null,
    outages: Outages = new Outages(runtime, leaseMs),
  ) {
    this.#store = store;
    this.#runtime = runtime;
    this.#leaseMs = leaseMs;
    this.#freshenClock = freshenClock;
    this.#outages = outages;
  }

  get leases(): Lease[] {
    return [...this.#held.values()].map((held) => held.lease);
  }

  /** `since` is the monotonic time before the store handed out the lease. */
  hold(turn: Turn, lease: Lease, since: number): void {
    this.#held.set(lease.runId, {
      ...{ since, lease, turn },
      heldUntil: since + this.#leaseMs,
      endsAt: lease.expiresAt,
    });
    this.#arm(this.#usualMs());
    this.#watchEnd(since + this.#leaseMs);
  }

  drop(lease: Lease): void {
    if (!this.#heldOf(lease)) return;
    this.#held.delete(lease.runId);
    if (this.#held.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
    this.#stopWatch();
  }

  holds(lease: Lease): boolean {
    const held = this.#heldOf(lease);
    return held !== undefined && this.#runtime.monotonic() < held.heldUntil;
  }

  /** For how long it has been held. */
  heldMs(lease: Lease): number {
    const held = this.#heldOf(lease);
    return held === undefined ? 0 : this.#runtime.monotonic() - held.since;
  }

  /** The fence is the claim, not the run: a run may come back to its runner under another token. */
  #heldOf(lease: Lease): HeldLease | undefined {
    const held = this.#held.get(lease.runId);
    return held?.lease.token === lease.token ? held : undefined;
  }

  /** Until when a commit should extend the lease: not at all while most of it is left, so that the store stays quiet. */
  extension(lease: Lease, monotonic: number): number {
    const held = this.#heldOf(lease);
    const left = (held?.heldUntil ?? 0) - monotonic;
    return left > (this.#leaseMs * 2) / 3 ? 0 : leaseEnd(this.#runtime, this.#leaseMs);
  }

  /** A commit that was asked to extend the lease was applied; `since` is the monotonic time before it was sent. */
  extended(lease: Lease, since: number, until: number): void {
    const held = this.#heldOf(lease);
    if (held) this.#extend(held, since, until);
  }

  #extend(held: HeldLease, since: number, until: number): void {
    held.heldUntil = Math.max(held.heldUntil, since + this.#leaseMs);
    held.endsAt = until;
  }

  /**
   * Renews first what the store would hand out again although it is held here: the monotonic clock may stand still while
   * the machine sleeps, and the other clock may be set.
   */
  async catchUp(): Promise<void> {
    const now = this.#runtime.now();
    for (const { endsAt } of this.#held.values()) if (endsAt <= now) return this.renew();
  }

  /** Jitter only shortens: runners started together drift apart, and no renewal comes late. */
  #usualMs(): number {
    return (this.#leaseMs / 3) * (0.8 + this.#runtime.float() * 0.2);
  }

  #soonMs(): number {
    return Math.min(retryMsMax, this.#leaseMs / 30) * (0.5 + this.#runtime.float() * 0.5);
  }

  #arm(delayMs: number): void {
    if (this.#timer || this.#renewing || this.#held.size === 0) return;
    this.#timer = this.#runtime.timer(() => {
      this.#timer = null;
      void this.renew();
    }, delayMs);
  }

  /**
   * A turn whose time is up is stopped then and there: a renewal under way may never answer. One whose claim was answered
   * late may end before all that are watched already.
   */
  #watchEnd(at: number): void {
    if (at >= this.#watchAt) return;
    this.#stopWatch();
    this.#watchAt = at;
    this.#watch = this.#runtime.timer(
      () => {
        this.#stopWatch();
        for (const held of [...this.#held.values()]) if (!this.holds(held.lease)) this.#lose(held, "expired");
        this.#watchEnd(this.#soonestEnd());
      },
      Math.max(0, at - this.#runtime.monotonic()),
    );
  }

  #soonestEnd(): number {
    let soonest = Number.POSITIVE_INFINITY;
    for (const { heldUntil } of this.#held.values()) soonest = Math.min(soonest, heldUntil);
    return soonest;
  }

  #stopWatch(): void {
    this.#watch?.cancel();
    this.#watch = null;
    this.#watchAt = Number.POSITIVE_INFINITY;
  }

  /** One at a time: whoever asks meanwhile waits for the one under way. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renewNow();
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    let isAnswered = false;
    try {
      isAnswered = await this.#renewDue();
    } finally {
      this.#renewing = null;
      this.#arm(isAnswered ? this.#usualMs() : this.#soonMs());
    }
  }

  /** False when the store did not answer, not in time, or not for all of them. */
  async #renewDue(): Promise<boolean> {
    const since = this.#runtime.monotonic();
    const due = [...this.#held.values()].filter((held) => this.#isDue(held, since));
    if (due.length === 0) return true;
    const asking = new AbortController();
    const answer = await withTimeout(this.#runtime, this.#leaseMs / 6, this.#ask(due, since, asking.signal));
    if (answer === timedOut) {
      asking.abort(unanswered());
      this.#outages.failed(since);
    }
    return answer === true;
  }

  #isDue({ heldUntil, endsAt }: HeldLease, monotonic: number): boolean {
    return heldUntil - monotonic < (this.#leaseMs * 3) / 4 || endsAt <= this.#runtime.now();
  }

  /** An answer that comes after it was given up still counts, from when it was asked. */
  async #ask(due: readonly HeldLease[], since: number, signal: AbortSignal): Promise<boolean> {
    try {
      const stale = this.#freshenClock();
      if (stale) await stale;
      const renewals = due.map(({ lease, turn: { begun, commitNumber, appliedNumber } }) => ({
        lease,
        begun,
        commit: commitNumber,
        applied: appliedNumber,
      }));
      const until = leaseEnd(this.#runtime, this.#leaseMs);
      const answers = await this.#store.renew(renewals, until, this.#runtime.now(), signal);
      this.#outages.answered();
      for (const [at, held] of due.entries()) this.#heard(held, answers[at], since, until);
      return !answers.some(({ kind }) => kind === "busy");
    } catch {
      // The store is out of reach: keep trying; whoever's time runs out meanwhile is stopped.
      this.#outages.failed(since);
      return false;
    }
  }

  #heard(
    held: HeldLease,
    answer: Awaited<ReturnType<Store["renew"]>>[number] | undefined,
    since: number,
    until: number,
  ): void {
    if (this.#held.get(held.lease.runId) !== held || answer?.kind === "busy") return;
    if (answer?.kind !== "renewed") return this.#lose(held, "superseded");
    this.#extend(held, since, until);
    held.turn.flushLogs();
    if (answer.eventSeq > held.turn.eventSeq) held.turn.eventsArrived();
    if (answer.paused) held.turn.paused();
    else held.turn.resumed();
  }

  #lose(held: HeldLease, loss: LeaseLoss): void {
    this.#held.delete(held.lease.runId);
    const message = "The lease on this instance was lost; what this runner does no longer counts.";
    held.turn.abandon(new LeaseLostError(loss, message));
  }
}

function unanswered(): StoreError {
  return new StoreError(
    "ambiguous",
    "STORE_UNAVAILABLE",
    "The store did not answer a renewal of leases in time.",
  );
}
