import type {
  EventAddress,
  OutgoingEvent,
  ResolvedStepConfig,
  StartOptions,
  StepContext,
} from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { Mutation } from "../model/mutations.ts";
import type { Body } from "./body.ts";

export type WorkflowAddress = string | { readonly name: string };

/** What a context needs from the turn it belongs to. */
export interface ContextHost {
  readonly ref: InstanceRef & { readonly runNumber: number };
  startWorkflow(body: Body, workflow: WorkflowAddress, options: StartOptions): string;
  sendEvent(body: Body, to: EventAddress, event: OutgoingEvent): void;
}

/**
 * The argument of a callback. All members are its own properties, so that `{ ...context }` has them; those that Cloudflare's
 * has not (`signal`, `mutate`, ...) are made when they are looked at, and are left out of its JSON. What code that outlives
 * the body registers comes too late: nothing could be written with the step any more, so it is refused.
 */
export function contextOf(body: Body, config: ResolvedStepConfig, host: ContextHost): StepContext {
  // To define them one by one costs more than all the rest of a step.
  return new Proxy(new BodyContext(body, config, host), ownMembers);
}

class BodyContext implements StepContext {
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

  toJSON(): Pick<StepContext, "step" | "attempt" | "config"> {
    const { step, attempt, config } = this;
    return { step, attempt, config };
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
      openBody(this.#body, "mutate").mutate(mutation);
    };
  }

  get serviceCalls(): (calls: () => readonly Mutation[]) => void {
    return (calls) => {
      checked(calls, "serviceCalls");
      // Asked for once the body is over, so that calls can be built from what it found out.
      openBody(this.#body, "serviceCalls").callService((db) => inTurn(calls(), db));
    };
  }

  get onTerminalError(): { readonly mutate: (mutation: Mutation) => void } {
    return {
      mutate: (mutation) => {
        checked(mutation, "onTerminalError.mutate");
        openBody(this.#body, "onTerminalError.mutate").mutateOnTerminalError(mutation);
      },
    };
  }

  get startWorkflow(): StepContext["startWorkflow"] {
    return (workflow, options = {}) => {
      checkNames(options, startNames, "startWorkflow");
      return this.#host.startWorkflow(this.#body, workflow, options);
    };
  }

  get sendEvent(): StepContext["sendEvent"] {
    return (to: EventAddress, event: OutgoingEvent) => {
      checkNames(event, eventNames, "An event");
      this.#host.sendEvent(this.#body, to, event);
    };
  }
}

const eventNames: NamesOf<OutgoingEvent> = { type: true, payload: true, idempotencyKey: true };
const startNames: NamesOf<StartOptions> = { id: true, params: true };

const madeWhenUsed: readonly (keyof StepContext)[] = [
  "signal",
  "idempotencyKey",
  "mutate",
  "serviceCalls",
  "onTerminalError",
  "startWorkflow",
  "sendEvent",
];
const isMadeWhenUsed: ReadonlySet<PropertyKey> = new Set(madeWhenUsed);

const ownMembers: ProxyHandler<BodyContext> = {
  // Asked of the context itself: its private members are not the proxy's.
  get: (context, key) => context[key as keyof BodyContext],
  ownKeys: (context) => [...new Set([...Reflect.ownKeys(context), ...madeWhenUsed])],
  getOwnPropertyDescriptor: (context, key) =>
    Reflect.getOwnPropertyDescriptor(context, key) ??
    (isMadeWhenUsed.has(key)
      ? { value: context[key as keyof BodyContext], enumerable: true, configurable: true, writable: true }
      : undefined),
};

/** Throws once the body is over. */
export function openBody(body: Body, what: string): Body {
  if (!body.isVoid) return body;
  throw new EverstepError(
    "STEP_INTERRUPTED",
    `${what} was called when step "${body.call.name}" was over, so nothing came of it. Call it before the callback ` +
      "returns, and await what calls it.",
  );
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
