import type { ConsumedEvent, TimedOutWait } from "../model/boundary.ts";
import type { LogLine } from "../model/log-line.ts";
import type { Mutations } from "../model/mutations.ts";
import type { AlongsideRequest } from "../model/request.ts";
import type { StepRecord } from "../model/step.ts";
import { added, none } from "./short-list.ts";

/** What a turn knows and has not committed yet; becomes the next boundary. */
export interface DraftContent {
  readonly steps: readonly StepRecord[];
  readonly timeouts: readonly TimedOutWait[];
  /** The newest event that was known when the first of the timeouts was decided; Infinity without any. */
  readonly timeoutsSaw: number;
  readonly consumed: readonly ConsumedEvent[];
  readonly logs: readonly LogLine[];
  readonly alongside: readonly AlongsideRequest[];
  readonly mutations: Mutations | null;
  /** The step whose mutations they are. */
  readonly mutated: number | null;
}

export class Draft {
  #steps: readonly StepRecord[] = none;
  #timeouts: TimedOutWait[] = [];
  #timeoutsSaw = Number.POSITIVE_INFINITY;
  #consumed: ConsumedEvent[] = [];
  #logs: LogLine[] = [];
  #alongside: AlongsideRequest[] = [];
  #mutations: Mutations | null = null;
  #mutated: number | null = null;

  /** Log lines alone do not ask for a commit; they ride with the next one. */
  get isEmpty(): boolean {
    return this.#steps.length === 0 && this.#timeouts.length === 0;
  }

  get hasLogs(): boolean {
    return this.#logs.length > 0;
  }

  get hasMutations(): boolean {
    return this.#mutations !== null;
  }

  step(record: StepRecord): void {
    const steps = this.#steps;
    // A step that changes twice before a commit (waiting, then completed) is written once.
    for (let at = steps.length - 1; at >= 0; at--) {
      if (steps[at]?.index === record.index) {
        this.#steps = steps.with(at, record);
        return;
      }
    }
    this.#steps = added(steps, record);
  }

  timeout(timeout: TimedOutWait, eventSeqSeen: number): void {
    this.#timeouts.push(timeout);
    this.#timeoutsSaw = Math.min(this.#timeoutsSaw, eventSeqSeen);
  }

  consume(event: ConsumedEvent): void {
    this.#consumed.push(event);
  }

  log(line: LogLine): void {
    this.#logs.push(line);
  }

  alongside(requests: readonly AlongsideRequest[]): void {
    if (requests.length > 0) this.#alongside.push(...requests);
  }

  mutations(mutations: Mutations, index: number): void {
    this.#mutations = mutations;
    this.#mutated = index;
  }

  take(): DraftContent {
    const content = {
      steps: this.#steps,
      timeouts: orNone(this.#timeouts),
      timeoutsSaw: this.#timeoutsSaw,
      consumed: orNone(this.#consumed),
      logs: orNone(this.#logs),
      alongside: orNone(this.#alongside),
      mutations: this.#mutations,
      mutated: this.#mutated,
    };
    this.#steps = none;
    this.#timeoutsSaw = Number.POSITIVE_INFINITY;
    this.#mutations = null;
    this.#mutated = null;
    // Most commits carry steps only: what is empty need not be made anew.
    if (this.#timeouts.length > 0) this.#timeouts = [];
    if (this.#consumed.length > 0) this.#consumed = [];
    if (this.#logs.length > 0) this.#logs = [];
    if (this.#alongside.length > 0) this.#alongside = [];
    return content;
  }

  /** A commit was not applied because of its mutations: everything but the step they belong to is still owed. */
  putBack(
    content: DraftContent,
    without: {
      readonly index: number;
      readonly alongside: readonly AlongsideRequest[];
      readonly event: number | null;
    },
  ): void {
    const later = this.take();
    this.#steps = content.steps.filter((step) => step.index !== without.index);
    for (const step of later.steps) this.step(step);
    this.#timeouts = [...content.timeouts, ...later.timeouts];
    this.#timeoutsSaw = Math.min(content.timeoutsSaw, later.timeoutsSaw);
    this.#consumed = [...content.consumed.filter((event) => event.seq !== without.event), ...later.consumed];
    this.#logs = [...content.logs, ...later.logs];
    const alongside = content.alongside.filter((request) => !without.alongside.includes(request));
    this.#alongside = [...alongside, ...later.alongside];
    this.#mutations = later.mutations;
    this.#mutated = later.mutated;
  }
}

/** The list itself is filled further when it is empty, so an empty one is never given away. */
function orNone<Item>(list: readonly Item[]): readonly Item[] {
  return list.length === 0 ? none : list;
}
