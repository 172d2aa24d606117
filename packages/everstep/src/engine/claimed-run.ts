import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { EventAddress, OutgoingEvent, StartOptions } from "../authoring/workflow-step.ts";
import type { EventRecord } from "../model/event.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import type { Observer } from "../model/observer.ts";
import type { AsyncScope, Runtime } from "../model/runtime.ts";
import type { WaitingStep } from "../model/step.ts";
import { addressed } from "./addressed-workflow.ts";
import type { Body } from "./body.ts";
import type { Call } from "./call.ts";
import { planAlongsideCreate } from "./lifecycle.ts";
import { planAlongsideEvent } from "./plan-event.ts";
import { type ContextHost, openBody, type WorkflowAddress } from "./step-context.ts";
import { type StepOptionsResolver, stepOptionsOf } from "./step-options.ts";
import type { Turn } from "./turn.ts";
import type { TurnCommit, TurnHost, TurnScope } from "./turn-host.ts";

/** The run a turn is about: its code, its claim, and every effect it has, which is the host's. */
export class ClaimedRun implements ContextHost {
  readonly definition: WorkflowDefinition;
  readonly options: StepOptionsResolver;
  readonly turn: Turn;
  readonly #host: TurnHost;
  readonly runtime: Runtime;
  /** Who is told of what happens. */
  readonly observer: Observer;
  #claim: Claim;

  constructor(turn: Turn, claim: Claim, definition: WorkflowDefinition, host: TurnHost) {
    this.definition = definition;
    this.options = stepOptionsOf(definition);
    this.turn = turn;
    this.#host = host;
    this.runtime = host.runtime;
    this.observer = host.observer ?? nobody;
    this.#claim = claim;
  }

  get claim(): Claim {
    return this.#claim;
  }

  /** The turn goes on under its next lease. */
  claimAgain(claim: Claim): void {
    this.#claim = claim;
  }

  get ref(): InstanceRef & { readonly runNumber: number } {
    return this.#claim;
  }

  get scope(): AsyncScope<TurnScope> {
    return this.#host.scope;
  }

  /** Code is only held against what is recorded. */
  get isRehearsal(): boolean {
    return this.#host.rehearsal !== undefined;
  }

  now(): number {
    return this.runtime.now();
  }

  commit(commit: TurnCommit): void {
    this.#host.commit(this.turn, commit);
  }

  readEvents(after: number): Promise<readonly EventRecord[]> {
    return this.#host.readEvents(this.turn, after);
  }

  readWaits(): Promise<readonly WaitingStep[]> {
    return this.#host.readWaits(this.turn);
  }

  holdsLease(): boolean {
    return this.#host.holdsLease(this.turn);
  }

  takeStep(): boolean {
    return this.#host.takeStep(this.turn);
  }

  wake(): void {
    this.#host.wake(this.turn);
  }

  spoke(stepName: string | null): void {
    this.#host.spoke?.(this.turn, stepName);
  }

  asked(call: Call): void {
    this.#host.rehearsal?.asked(call);
  }

  /** Something a person who watches should hear: an attempt failed, the run ended with an error. */
  notice(message: string): void {
    const { workflowName, instanceId } = this.#claim;
    this.observer.onNotice?.({ workflowName, instanceId, message });
  }

  startWorkflow(body: Body, workflow: WorkflowAddress, options: StartOptions): string {
    const { name, definition } = addressed(workflow, this.definition.limits, this.#host);
    const request = planAlongsideCreate(name, definition, options, this.#claim, this.runtime);
    openBody(body, "startWorkflow").send(request);
    return request.instanceId;
  }

  sendEvent(body: Body, to: EventAddress, event: OutgoingEvent): void {
    const { limits } = this.definition;
    const { name, definition } = addressed(to.workflow, limits, this.#host);
    const ref = { workflowName: name, instanceId: to.id };
    const request = planAlongsideEvent(ref, event, body, definition, limits, this.runtime);
    openBody(body, "sendEvent").send(request);
  }
}

const nobody: Observer = {};
