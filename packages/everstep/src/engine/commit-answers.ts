import { toStoredError } from "../authoring/stored-error.ts";
import type { StoreError } from "../model/error.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { DraftContent } from "./draft.ts";
import { mutationsFor, plain } from "./hand-over.ts";
import { tellOfSteps } from "./observed-steps.ts";
import { lesserCommits, refusalOf, type Sent } from "./refused-commit.ts";
import { goOn } from "./turn-commits.ts";
import { lastWritesRefused, leaseLost, mutationConflict, runFailed } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<
  TurnParts,
  | "run"
  | "records"
  | "life"
  | "schedule"
  | "inFlight"
  | "commits"
  | "results"
  | "parked"
  | "bodies"
  | "steps"
  | "endings"
  | "pause"
>;

/** What the store's answer to a commit means for the turn: it goes on, ends, is withdrawn in part, or is tried with less. */
export class CommitAnswers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The store has answered the commit under way. */
  committed(outcome: CommitOutcome): void {
    const { run, records, life, schedule, inFlight, commits, parked, steps, endings, pause } = this.#parts;
    const sent = commits.answered();
    if (!life.isOpen || sent === null) return;
    const { content, next } = sent;
    if (outcome.kind === "superseded") return life.abandon(leaseLost("superseded"));
    if (outcome.kind === "mutation-failed") return this.#mutationFailed(outcome, content);
    if (content.mutations) records.handOver.tellMutated();
    const recorded = commits.applied(sent, outcome.timeoutsRefused);
    tellOfSteps(run, recorded, records.inbox.consumed(content.consumed));
    if (outcome.timeoutsRefused) this.#withdrawTimeouts();
    inFlight.recorded(recorded);
    if (next.kind !== "continue") return endings.ended(outcome, next);
    if (outcome.kind === "paused") pause.paused();
    else pause.resumed();
    for (const step of recorded)
      if (step.status !== "waiting" && step.parentKey !== null) records.register.recordedInside(step);
    if (!life.isWindingDown) this.#releaseGated();
    if (outcome.eventSeq > records.inbox.seq && !parked.isEmpty) steps.eventsArrived();
    if (!this.#hasOnlyBodies()) schedule.pump();
  }

  /** Whatever happens next begins with a body that comes to its end. */
  #hasOnlyBodies(): boolean {
    const { records, life, steps } = this.#parts;
    const { draft, handOver } = records;
    if (!life.goesOn || !draft.isEmpty) return false;
    return handOver.isEmpty && !handOver.owes && steps.hasOnlyBodies;
  }

  #releaseGated(): void {
    const { run, records, life, inFlight, bodies } = this.#parts;
    if (!inFlight.isReleasedBy(records.durability.durable)) return;
    if (!run.holdsLease()) return life.abandon(leaseLost("expired"));
    bodies.startReleased();
  }

  /** An event was there after all: once it is read, the waits are open again and will take it. */
  #withdrawTimeouts(): void {
    const { records, parked, steps } = this.#parts;
    const calls = records.handOver.withdrawTimeouts();
    parked.withdraw(calls);
    steps.readEvents(() => parked.reopen(calls));
  }

  #mutationFailed(outcome: Extract<CommitOutcome, { kind: "mutation-failed" }>, content: DraftContent): void {
    const { records, life, commits, results, bodies } = this.#parts;
    commits.goesOn();
    const failed = records.handOver.withdrawMutated();
    if (!failed?.body) return life.abandon(new Error("The store refused mutations that nobody registered."));
    const { call, body } = failed;
    records.draft.putBack(content, {
      index: call.index as number,
      alongside: body.alongside,
      event: failed.event?.seq ?? null,
    });
    const thrown = outcome.conflict ? mutationConflict(call.name, outcome.error) : outcome.error;
    if (failed.event) {
      records.inbox.putBack(failed.event);
      return results.failed(call, toStoredError(thrown));
    }
    if (failed.draft.status === "errored") {
      // The step has failed for good already; that its last writes failed too must not give it another attempt.
      records.note("error", lastWritesRefused(call.name, toStoredError(thrown)));
      return results.settled({ call, draft: failed.draft, ...plain });
    }
    bodies.failAfterAll(body, thrown);
  }

  /** The commit under way came to nothing that is known. */
  commitFailed(error: unknown): void {
    const { life, commits } = this.#parts;
    const sent = commits.underWay;
    const refusal = refusalOf(error);
    if (refusal !== null && sent !== null && life.isOpen) return this.#refused(sent, refusal);
    life.abandon(error instanceof Error ? error : new Error(String(error)));
  }

  /** Bodies that are through are not run again because their commit is never taken: their steps fail. */
  #refused(sent: Sent, refusal: StoreError): void {
    const { run, records, life, commits } = this.#parts;
    const { instead = lesserCommits(sent, refusal, run.now()) } = sent;
    const lesser = instead.next().value;
    if (lesser === undefined) return life.abandon(refusal);
    const { failed, end, content } = lesser;
    const replaced = failed.map((step) => records.handOver.replace(step));
    const known = failed.filter(({ parentKey }, at) => parentKey === null && replaced[at] === null);
    const isKnown = known.length > 0;
    if (isKnown) {
      // The workflow function went on with a result that is void: the next turn tells it of the failure.
      life.takeBackOutcome();
      commits.misled(Math.min(...known.map(({ index }) => index)));
    }
    if (end) run.notice(runFailed(end.error));
    const next = end ?? (isKnown ? goOn : sent.next);
    const mutated = replaced.find((settlement) => settlement?.record?.index === content.mutated);
    const mutations = mutated?.body ? mutationsFor(mutated.body, { status: "errored" }) : content.mutations;
    commits.send({ content: { ...content, mutations }, next, upTo: sent.upTo, instead });
  }
}
