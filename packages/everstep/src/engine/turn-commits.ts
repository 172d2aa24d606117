import type { Boundary, Next } from "../model/boundary.ts";
import type { BegunBody } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import type { DraftContent } from "./draft.ts";
import { type Sent, sound } from "./refused-commit.ts";
import { turnOver } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "records" | "life" | "inFlight">;

/** Sends what is new as commits: one at a time, numbered under their lease, and what becomes new meanwhile in the next. */
export class TurnCommits {
  readonly #parts: Parts;
  #underWay: Sent | null = null;
  #isEnding = false;
  /** The last commit under this token that was sent, and the last that was applied. */
  #number = 0;
  #appliedNumber = 0;
  #hasProgressed = false;
  /** The first step whose result the function has got though no commit ever takes it. */
  #voidIndex = Number.POSITIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.claimed();
  }

  /** What the commit under way contains; null without one. */
  get underWay(): Sent | null {
    return this.#underWay;
  }

  /** The commit that ends this turn is under way. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** The number of the newest commit under this token that was sent. */
  get number(): number {
    return this.#number;
  }

  /** The number of the newest commit under this token that was applied. */
  get appliedNumber(): number {
    return this.#appliedNumber;
  }

  /** Something new became durable under the lease it has or had last. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** Bodies in flight, those included that the commit under way lets start: it may be durable already. */
  get begun(): readonly BegunBody[] {
    return this.#parts.inFlight.begunBeyond(this.#parts.records.durability.sent, noRecords);
  }

  /** Numbers begin anew with every lease. */
  claimed(): void {
    this.#number = this.#parts.run.claim.confirmed ? 1 : 0;
    this.#appliedNumber = this.#number;
    this.#hasProgressed = false;
  }

  /** Commits what is new, or what a body waits for; log lines alone wait for the next one. */
  readonly flush = (): void => {
    const { records, inFlight } = this.#parts;
    if (records.draft.isEmpty && !inFlight.gatedBeyond(records.durability.durable)) return;
    this.commit(goOn);
  };

  commit(next: Next): void {
    if (this.#underWay || this.#isEnding || !this.#parts.life.isOpen) return;
    const { draft, durability } = this.#parts.records;
    this.send({ content: draft.take(), next, upTo: durability.written });
  }

  send(given: Sent): void {
    const { run, records, inFlight } = this.#parts;
    const { durability, inbox } = records;
    const { next, upTo } = given;
    const isMisled = this.#voidIndex < Number.POSITIVE_INFINITY;
    const content = isMisled ? sound(given.content, this.#voidIndex) : given.content;
    this.#underWay = isMisled ? { ...given, content } : given;
    this.#isEnding = next.kind !== "continue";
    const { steps, timeouts, consumed, logs, alongside, mutations } = content;
    // A turn that only gives way has got nowhere.
    const isOver = this.#isEnding && next.kind !== "yield";
    const isProgress = isOver || steps.length + timeouts.length + consumed.length > 0;
    durability.send(upTo);
    const recorded = recordsOf(content, false);
    const begun = this.#isEnding ? inFlight.leftBy(recorded) : inFlight.begunBeyond(upTo, recorded);
    // Another process may have the run before this one hears of it.
    if (next.kind === "yield") inFlight.voidAll(turnOver());
    const number = ++this.#number;
    const heard = inbox.name();
    const boundary: Boundary = {
      number,
      // A number whose commit was refused is not used again: that commit may still arrive.
      ...(number === this.#appliedNumber + 1 ? nothing : { after: this.#appliedNumber }),
      steps,
      timeouts,
      consumed,
      // An event noticed after a timeout was decided must still be able to refuse it.
      eventSeqSeen: Math.min(inbox.seq, content.timeoutsSaw),
      ...(heard.length > 0 ? { heard } : nothing),
      logs,
      begun,
      ...(isProgress || run.claim.crashCount === 0 ? nothing : { noProgress: true }),
      next,
    };
    run.commit({ boundary, alongside, mutations });
  }

  /** The commit under way was answered. Gives what it contained. */
  answered(): Sent | null {
    const sent = this.#underWay;
    this.#underWay = null;
    return sent;
  }

  /** It was applied. Gives what is durable by it. */
  applied({ content, upTo }: Sent, timeoutsRefused: boolean): readonly StepRecord[] {
    const { durability, inbox } = this.#parts.records;
    durability.commit(upTo);
    this.#appliedNumber = this.#number;
    inbox.named();
    const recorded = recordsOf(content, timeoutsRefused);
    if (recorded.length > 0) this.#hasProgressed = true;
    return recorded;
  }

  /** The turn does not end by the commit that was answered. */
  goesOn(): void {
    this.#isEnding = false;
  }

  /** The workflow function went on with the result of this step, which is void. */
  misled(index: number): void {
    this.#voidIndex = Math.min(this.#voidIndex, index);
  }
}

export const goOn: Next = { kind: "continue" };
const noRecords: readonly StepRecord[] = [];
const nothing = {};

/** What a commit of this made durable. */
function recordsOf({ steps, timeouts }: DraftContent, timeoutsRefused: boolean): readonly StepRecord[] {
  return timeoutsRefused || timeouts.length === 0
    ? steps
    : [...steps, ...timeouts.map(({ settled }) => settled)];
}
