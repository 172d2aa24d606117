/** Turns what the machinery does into sentences about somebody's workflows. */
import type { StepContext } from "../../../authoring/workflow-step.ts";
import type { Next } from "../../../model/boundary.ts";
import type { InstanceRef, RunId } from "../../../model/instance.ts";
import type { Claim } from "../../../model/lease.ts";
import type { CommitRequest, StoreOutcome, StoreRequest } from "../../../model/request.ts";
import type { StoreCall } from "../../intercept-store.ts";
import type { Member } from "../fleet.ts";
import type { Fate } from "../weather.ts";
import { lengthText, type Schedule } from "./schedule.ts";
import { aboutTo, aboutToRecord, changed, nameOf, ordinal, stepsOf } from "./words.ts";

export interface BodyInWords {
  readonly what: string;
  /** What the author's code does is done. */
  isDone: boolean;
  /** It is nobody's concern any more. */
  readonly end: () => void;
}

export class Narrator {
  readonly #schedule: Schedule;
  readonly #runs = new Map<RunId, InstanceRef>();
  readonly #starts = new Map<string, number>();
  /** Processes that have been there before. */
  readonly #places = new Set<string>();
  /** Why a process is about to be killed. */
  readonly #causes = new Map<Member, string>();
  /** Bodies under way, in words. */
  readonly #bodies = new Map<Member, Set<BodyInWords>>();

  constructor(schedule: Schedule) {
    this.#schedule = schedule;
  }

  // ---------------------------------------------------------------------------------------------- processes

  news(member: Member, news: string): void {
    const { name } = member.place;
    const [what, ms] = /^(.*?)(?: (?:for|to) (-?\d+) ms)?$/.exec(news)?.slice(1) ?? [news];
    const length = lengthText(Math.abs(Number(ms ?? 0)));
    switch (what) {
      case "started":
        if (this.#places.has(name))
          this.#schedule.line("started", () => `${name} starts again, with nothing in memory`);
        this.#places.add(name);
        return;
      case "killed": {
        const cause = this.#causes.get(member) ?? this.#at(member);
        return this.#schedule.fault("killed", () => `${name} is killed${cause}`);
      }
      case "frozen":
        return this.#schedule.fault("frozen", () => `${name} stands still for ${length}`);
      case "thawed":
        return this.#schedule.line("thawed", () => `${name} goes on as if nothing had been`);
      case "stops":
        return this.#schedule.fault("stops", () => `${name} is told to stop`);
      case "stopped":
        return this.#schedule.line("stopped", () => `${name} has stopped`);
      case "cut off":
        return this.#schedule.fault("cut off", () => `${name} does not reach the store for ${length}`);
      case "clock set": {
        const way = Number(ms) < 0 ? "behind" : "ahead";
        return this.#schedule.fault("clock", () => `the clock of ${name} is set ${length} ${way}`);
      }
      default:
        return this.#schedule.line(news, () => `${name}: ${news}`);
    }
  }

  /** The next word of its death says so. */
  willBeKilled(member: Member, cause: string): void {
    this.#causes.set(member, cause);
  }

  fate(member: Member, fate: Fate, call: StoreCall): void {
    const { name } = member.place;
    const what = (): string => this.#doing(call);
    switch (fate) {
      case "delivered":
        return;
      case "refused":
      case "contended":
        return this.#schedule.fault(fate, () => `the store refuses a call of ${name} (${what()})`);
      case "reply lost":
        return this.#schedule.fault(
          fate,
          () => `${name} hears no answer from the store (${what()}), which did it`,
        );
      case "late":
        return this.#schedule.fault(fate, () => `${name} gives up on a call that arrives later (${what()})`);
      case "crash before":
        return this.willBeKilled(member, ` on its way to the store (${what()}), which hears nothing of it`);
      case "crash after":
        return this.willBeKilled(member, ` while the store answers (${what()}), which did it`);
    }
  }

  // ---------------------------------------------------------------------------------------------- bodies

  /** A body begins; what is given back is told what becomes of it. */
  begins(member: Member, ref: InstanceRef, { step, idempotencyKey }: StepContext): BodyInWords {
    const start = (this.#starts.get(idempotencyKey) ?? 0) + 1;
    this.#starts.set(idempotencyKey, start);
    const again = start === 1 ? "" : `, for the ${ordinal(start)} time`;
    const what = `"${step.name}" of ${nameOf(ref)}`;
    this.#schedule.line(`begins ${step.name}`, () => `${member.place.name} runs ${what}${again}`);
    const bodies = this.#bodies.get(member) ?? new Set();
    this.#bodies.set(member, bodies);
    const body: BodyInWords = { what, isDone: false, end: () => bodies.delete(body) };
    bodies.add(body);
    return body;
  }

  throws(member: Member, ref: InstanceRef, step: string, error: unknown): void {
    this.#schedule.line(
      `throws ${step}`,
      () => `"${step}" of ${nameOf(ref)} in ${member.place.name} throws ${String(error)}`,
    );
  }

  #at(member: Member): string {
    const bodies = Array.from(this.#bodies.get(member) ?? [], ({ what, isDone }) =>
      isDone ? `${what} has done its work and is not recorded` : `${what} has not done its work`,
    );
    return bodies.length === 0 ? "" : ` while ${bodies.join(", and ")}`;
  }

  // ---------------------------------------------------------------------------------------------- the store

  applied(member: Member, { method, requests }: StoreCall, answer: unknown): void {
    if (method === "claim") for (const claim of answer as readonly Claim[]) this.#claimed(member, claim);
    if (method !== "write") return;
    for (const [at, request] of requests.entries()) {
      const outcome = (answer as readonly StoreOutcome[])[at];
      if (outcome) this.#wrote(member, request, outcome);
    }
  }

  #claimed({ place }: Member, claim: Claim): void {
    this.#runs.set(claim.lease.runId, claim);
    this.#schedule.line("claimed", () => `${place.name} takes up ${nameOf(claim)}`);
  }

  #wrote(member: Member, request: StoreRequest, outcome: StoreOutcome): void {
    switch (request.kind) {
      case "create":
        if (outcome.kind === "exists")
          return this.#schedule.line("exists", () => `${nameOf(request)} is there already`);
        if (outcome.kind !== "created") return;
        this.#schedule.line("created", () => `${nameOf(request)} is created`);
        this.#runs.set(outcome.runId, request);
        if (outcome.claim) this.#claimed(member, outcome.claim);
        return;
      case "sendEvent":
        if (outcome.kind === "accepted" && !request.system) this.#sent(request, outcome.duplicate);
        return;
      case "publish":
        if (outcome.kind === "published")
          this.#schedule.line(
            "published",
            () => `a publication on "${request.topic}" reaches ${outcome.waiters} who wait for it`,
          );
        return;
      case "change":
        if (outcome.kind === "changed")
          this.#schedule.line(
            request.change.kind,
            () => `${nameOf(request)} is ${changed[request.change.kind]}`,
          );
        return;
      case "delete":
        if (outcome.kind === "deleted") this.#schedule.line("deleted", () => `${nameOf(request)} is deleted`);
        return;
      case "commit":
        return this.#committed(member, request, outcome);
      case "wake":
      case "abandon":
        return;
    }
  }

  #sent(request: Extract<StoreRequest, { kind: "sendEvent" }>, isDuplicate: boolean): void {
    const known = isDuplicate ? ", which has it already" : "";
    this.#schedule.line("event", () => `event "${request.type}" reaches ${nameOf(request)}${known}`);
  }

  #committed({ place, process }: Member, request: CommitRequest, outcome: StoreOutcome): void {
    const { lease, boundary, alongside } = request;
    const run = this.#runs.get(lease.runId);
    const name = run ? nameOf(run) : `run ${lease.runId}`;
    const steps = (): string[] => stepsOf(request);
    const isDead = process.state === "dead";
    const records = isDead ? `what ${place.name} sent before it died is recorded` : `${place.name} records`;
    if (outcome.kind === "superseded") {
      this.#schedule.line(
        "superseded",
        () => `the store refuses what ${place.name} has of ${name}: another decided meanwhile`,
      );
      return;
    }
    if (outcome.kind === "mutation-failed")
      return this.#schedule.line("refused", () => `the store refuses the writes of a step of ${name}`);
    if (outcome.kind !== "committed" && outcome.kind !== "paused") return;
    if (boundary.steps.length + boundary.timeouts.length > 0)
      this.#schedule.line("recorded", () => `${records} of ${name}: ${steps().join(", ")}`);
    for (const other of alongside) {
      const kind = other.kind === "create" ? "is created" : `is sent "${other.type}"`;
      this.#schedule.line(other.kind, () => `${nameOf(other)} ${kind} with it`);
    }
    if (outcome.kind === "committed") this.#next(boundary.next, name);
  }

  #next(next: Next, name: string): void {
    switch (next.kind) {
      case "complete":
        return this.#schedule.line("complete", () => `${name} is complete`);
      case "error":
        return this.#schedule.line("errored", () => `${name} fails: ${next.error.message}`);
      case "terminate":
        return this.#schedule.line("terminated", () => `${name} is ended: ${next.reason.source}`);
      case "continue":
      case "suspend":
      case "yield":
        return;
    }
  }

  #doing({ method, requests }: StoreCall): string {
    const [first] = requests;
    if (method !== "write" || !first) return aboutTo[method] ?? method;
    if (first.kind !== "commit") return first.kind;
    const run = this.#runs.get(first.lease.runId);
    const steps = stepsOf(first);
    const what = steps.length > 0 ? steps.join(", ") : aboutToRecord[first.boundary.next.kind];
    return `to record ${what}${run ? ` of ${nameOf(run)}` : ""}`;
  }
}
