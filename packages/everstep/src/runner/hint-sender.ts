import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { ObservedWrite, Observer } from "../model/observer.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import { withTimeout } from "../model/with-timeout.ts";
import type { Store } from "../store/store.ts";
import { answersTo, type HintQuestion, type QuestionReads, questionsOf } from "./hint-questions.ts";
import { type Dispatcher, hintOf, hintsOf, type WakeHint } from "./hints.ts";
import type { Patience } from "./store-patience.ts";

export interface HintSenderParts {
  readonly dispatcher: Dispatcher;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly patience: Patience;
  readonly onProblem: (problem: unknown) => void;
}

/** A wake that has not come to its end by then is reported. */
const wakeMs = 30_000;

/** Calls the host's dispatcher for every write that makes work due. Whatever becomes of a call, nothing else is harmed. */
export class HintSender implements Observer {
  readonly #parts: HintSenderParts;
  readonly #reads: QuestionReads;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #timers = new Set<Timer>();
  #isStopped = false;

  constructor(parts: HintSenderParts) {
    this.#parts = parts;
    const { store, patience } = parts;
    this.#reads = {
      getInstance: (ref) => patience.patiently(() => store.getInstance(ref)),
      getStatuses: (refs) => patience.patiently(() => store.getStatuses(refs)),
      listWaiters: (topic, query) => patience.patiently(() => store.listWaiters(topic, query)),
    };
  }

  /** A write was applied, or refused. */
  onWrite({ request, outcome, workflowName, instanceId, isUncertain: uncertain }: ObservedWrite): void {
    if (this.#isStopped || outcome === null) return;
    const of = workflowName !== null && instanceId !== null ? { workflowName, instanceId } : undefined;
    for (const hint of hintsOf(request, outcome, this.#parts.runtime.now(), of)) this.#send(hint);
    for (const question of questionsOf(request, outcome, { of, uncertain })) this.#keep(this.#find(question));
  }

  /** It was given back unfinished. */
  onLeaseReturned(ref: InstanceRef): void {
    this.#send(hintOf(ref, "resume", this.#parts.runtime.now()));
  }

  /** Waits for calls under way, but not for long. */
  async stop(patienceMs: number): Promise<void> {
    const { runtime } = this.#parts;
    if (this.#underWay.size > 0) await withTimeout(runtime, patienceMs, Promise.all(this.#underWay));
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
  }

  async #find(question: HintQuestion): Promise<void> {
    const { runtime, onProblem } = this.#parts;
    try {
      for await (const hint of answersTo(question, this.#reads, () => runtime.now())) {
        if (this.#isStopped) return;
        this.#send(hint);
      }
    } catch (problem) {
      if (!this.#isStopped) onProblem(problem);
    }
  }

  #send(hint: WakeHint): void {
    try {
      const answer = this.#parts.dispatcher.wake(hint);
      if (isPromise(answer)) this.#keep(this.#watch(hint, answer));
    } catch (problem) {
      this.#report(hint, "threw", problem);
    }
  }

  /** Reports once: a failure that comes after it was reported as late is the same one. */
  #watch(hint: WakeHint, answer: PromiseLike<unknown>): Promise<void> {
    return new Promise((resolve) => {
      let isOpen = true;
      const end = (report: () => void): void => {
        if (isOpen && !this.#isStopped) report();
        isOpen = false;
        timer.cancel();
        this.#timers.delete(timer);
        resolve();
      };
      const late = (): void => this.#report(hint, `has not ended after ${wakeMs / 1000} seconds`);
      const timer = this.#parts.runtime.timer(() => end(late), wakeMs);
      this.#timers.add(timer);
      Promise.resolve(answer).then(
        () => end(() => {}),
        (problem: unknown) => end(() => this.#report(hint, "failed", problem)),
      );
    });
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#underWay.delete(kept));
    this.#underWay.add(kept);
  }

  #report({ workflowName, instanceId, reason }: WakeHint, what: string, cause?: unknown): void {
    const why = cause instanceof Error ? `: ${cause.message}` : "";
    this.#parts.onProblem(
      new EverstepError(
        "DISPATCHER_FAILED",
        `dispatcher.wake for ${workflowName}/${instanceId} (${reason}) ${what}${why}. Only the hint is lost: ` +
          "the instance wants its turn, and the next tick finds it.",
        { cause },
      ),
    );
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
