/**
 * Tells the host of runs that ended or were restarted: after the commit, at least once, and again until the hook returns.
 * The telling is itself an instance, created in the same commit as what it tells of; so it survives crashes, is retried
 * like any step, and shows in histories when it fails.
 */

import { encodeValue } from "../authoring/codec.ts";
import { buildDefinition, type WorkflowDefinition } from "../authoring/define-workflow.ts";
import { planCreate } from "../engine/lifecycle.ts";
import { endedStatus, type Next } from "../model/boundary.ts";
import type { InstanceRef, InstanceStatus } from "../model/instance.ts";
import type { CreateRequest } from "../model/request.ts";
import type { Runtime } from "../model/runtime.ts";

export interface LifecycleHooks {
  /** A run is complete, errored or terminated. */
  onEnded?(transition: Transition): unknown;
  /** An instance begins its next run. */
  onRestarted?(transition: Transition): unknown;
}

export interface Transition {
  /** The same every time this transition is told. */
  readonly id: string;
  readonly workflowName: string;
  readonly instanceId: string;
  /** The run that ended, or the run before the one that begins. */
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly at: Date;
}

/** Under this name tellings appear in the store. */
export const hooksWorkflowName = "everstep_hooks";

const retries = { limit: 20, delay: "1 second", backoff: "exponential", maxDelay: "5 minutes" } as const;

export function hooksWorkflow(hooks: LifecycleHooks): WorkflowDefinition {
  return buildDefinition(
    { name: hooksWorkflowName, retention: "1 day" },
    async (event, step) => {
      const { restarted, ...facts } = event.payload as { readonly restarted: boolean } & Omit<
        Transition,
        "id" | "at"
      >;
      await step.do("tell", { retries }, async () => {
        const transition: Transition = { ...facts, id: event.instanceId, at: event.timestamp };
        await (restarted ? hooks.onRestarted?.(transition) : hooks.onEnded?.(transition));
      });
    },
    "everstep",
  );
}

/** The workflows of an app, and the one that tells its hooks where there are any. */
export function withHooks(
  workflows: Record<string, WorkflowDefinition>,
  hooks: LifecycleHooks,
): Record<string, WorkflowDefinition> {
  const wanted = hooks.onEnded !== undefined || hooks.onRestarted !== undefined;
  return wanted ? { ...workflows, [hooksWorkflowName]: hooksWorkflow(hooks) } : workflows;
}

/** Plans tellings; gives nothing where no hook would hear them. */
export class Announcer {
  readonly #hooks: LifecycleHooks;
  readonly #runtime: Runtime;

  constructor(hooks: LifecycleHooks, runtime: Runtime) {
    this.#hooks = hooks;
    this.#runtime = runtime;
  }

  get hearsEnds(): boolean {
    return this.#hooks.onEnded !== undefined;
  }

  ended(ref: InstanceRef & { readonly runNumber: number }, next: Next): CreateRequest | undefined {
    const status = endedStatus(next);
    return status && this.#hooks.onEnded ? this.#plan(ref, status, false) : undefined;
  }

  restarted(
    ref: InstanceRef & { readonly runNumber: number },
    status: InstanceStatus,
  ): CreateRequest | undefined {
    return this.#hooks.onRestarted ? this.#plan(ref, status, true) : undefined;
  }

  #plan(
    ref: InstanceRef & { readonly runNumber: number },
    status: InstanceStatus,
    restarted: boolean,
  ): CreateRequest | undefined {
    const { workflowName, instanceId, runNumber } = ref;
    if (workflowName === hooksWorkflowName) return undefined;
    const params = encodeValue({ workflowName, instanceId, runNumber, status, restarted }, "transition");
    const telling = { workflowName: hooksWorkflowName, instanceId: this.#runtime.uuid() };
    return planCreate(telling, { params, retentionMs: 24 * 60 * 60 * 1000 }, this.#runtime.now());
  }
}
