import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import type { Call } from "../../engine/call.ts";
import type { Turn } from "../../engine/turn.ts";
import type { TurnHost, TurnScope } from "../../engine/turn-host.ts";
import type { EventRecord } from "../../model/event.ts";
import type { CommitOutcome } from "../../model/request.ts";
import type { AsyncScope, Runtime } from "../../model/runtime.ts";
import type { StepRecord, StepType, WaitingStep } from "../../model/step.ts";

/** A step the workflow function asked for. */
export interface AskedStep {
  readonly stepKey: string;
  readonly name: string;
  readonly type: StepType;
  readonly eventType: string | null;
  readonly topic: string | null;
  readonly record: StepRecord | undefined;
  /** The key of a step that was handed over before it was asked for, although it was recorded later. */
  readonly cameAfter: string | null;
}

const committed: CommitOutcome = { kind: "committed", eventSeq: 0, timeoutsRefused: false, dueNow: false };

/** A host without a store: nothing is written, no body runs, no event comes. It only hears what is asked for. */
export class RehearsalHost implements TurnHost {
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  readonly asked: AskedStep[] = [];
  /** Resolves when code that seemed to rest goes on after all. */
  awake!: Promise<"awake">;
  readonly rehearsal = { asked: (call: Call): void => this.#hear(call) };
  readonly #calls: Call[] = [];
  #wake!: (answer: "awake") => void;

  constructor(runtime: Runtime, scope: AsyncScope<TurnScope>) {
    this.runtime = runtime;
    this.scope = scope;
    this.sleep();
  }

  sleep(): void {
    this.awake = new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Grows with everything the code asks for and is given. */
  get signsOfLife(): number {
    return this.#calls.length + this.#calls.filter(({ state }) => state === "done").length;
  }

  #hear(call: Call): void {
    const { key: stepKey, name, type, eventType, record, cameAfter } = call;
    const { topic } = call.spec;
    this.#calls.push(call);
    this.asked.push({ stepKey, name, type, eventType, topic, record, cameAfter });
  }

  commit(turn: Turn): void {
    void Promise.resolve(committed).then((outcome) => turn.committed(outcome));
  }

  async readWaits(): Promise<readonly WaitingStep[]> {
    return [];
  }

  async readEvents(): Promise<readonly EventRecord[]> {
    return [];
  }

  holdsLease(): boolean {
    return true;
  }

  wake(): void {
    this.#wake("awake");
  }

  takeStep(): boolean {
    return false;
  }

  definitionOf(): WorkflowDefinition | undefined {
    return undefined;
  }
}
