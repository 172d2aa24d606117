import type {
  EventAddress,
  OutgoingEvent,
  ResolvedStepConfig,
  StartOptions,
  StepContext,
} from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Mutation } from "../model/mutations.ts";
import type { Body } from "./body.ts";

/** What a context needs from the turn it belongs to. */
export interface ContextHost {
  readonly ref: InstanceRef & { readonly runNumber: number };
  startWorkflow(body: Body, workflow: string, options: StartOptions): string;
  sendEvent(body: Body, to: InstanceRef, event: OutgoingEvent): void;
}

/**
 * The argument of a callback. What Cloudflare's has (`step`, `attempt`, `config`) are its own properties, the rest are
 * getters: they cost nothing unless used, may be destructured, and do not appear in its JSON. What code that outlives
 * the body registers comes too late and is left out, like its log lines.
 */
export class BodyContext implements StepContext {
  readonly step: { readonly name: string; readonly count: number };
  readonly attempt: number;
  readonly config: ResolvedStepConfig;
  readonly #body: Body;
  readonly #host: ContextHost;

  constructor(body: Body, config: ResolvedStepConfig, host: ContextHost) {
    this.step = { name: body.call.name, count: body.call.count };
    this.attempt = body.start;
    this.config = config;
    this.#body = body;
    this.#host = host;
  }

  get signal(): AbortSignal {
    return this.#body.signal;
  }

  get idempotencyKey(): string {
    const { workflowName, instanceId, runNumber } = this.#host.ref;
    return `${workflowName}/${instanceId}/${runNumber}/${this.#body.call.key}`;
  }

  get mutate(): (mutation: Mutation) => void {
    return (mutation) => {
      checked(mutation, "mutate");
      if (!this.#body.isVoid) this.#body.mutate(mutation);
    };
  }

  get serviceCalls(): (calls: () => readonly Mutation[]) => void {
    return (calls) => {
      checked(calls, "serviceCalls");
      // Asked for once the body is over, so that calls can be built from what it found out.
      if (!this.#body.isVoid) this.#body.callService((db) => inTurn(calls(), db));
    };
  }

  get onTerminalError(): { readonly mutate: (mutation: Mutation) => void } {
    return {
      mutate: (mutation) => {
        checked(mutation, "onTerminalError.mutate");
        if (!this.#body.isVoid) this.#body.mutateOnTerminalError(mutation);
      },
    };
  }

  get startWorkflow(): StepContext["startWorkflow"] {
    return (workflow, options = {}) => this.#host.startWorkflow(this.#body, nameOf(workflow), options);
  }

  get sendEvent(): StepContext["sendEvent"] {
    return (to: EventAddress, event: OutgoingEvent) =>
      this.#host.sendEvent(this.#body, { workflowName: nameOf(to.workflow), instanceId: to.id }, event);
  }
}

function nameOf(workflow: string | { readonly name: string }): string {
  return typeof workflow === "string" ? workflow : workflow.name;
}

function checked<Value>(value: Value, what: string): Value {
  if (typeof value !== "function") {
    throw new EverstepError(
      "MUTATION_INVALID",
      `${what} takes a function that writes through the transaction handle: ${what}((db) => ...).`,
    );
  }
  return value;
}

/** One after the other; a promise only where a call gives one, so that synchronous stores stay synchronous. */
function inTurn(calls: readonly Mutation[], db: unknown): unknown {
  let before: PromiseLike<unknown> | undefined;
  for (const call of calls) {
    checked(call, "serviceCalls");
    const returned: unknown = before ? before.then(() => call(db)) : call(db);
    if (isPromise(returned)) before = returned;
  }
  return before;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
