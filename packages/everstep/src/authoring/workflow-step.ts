import type { Mutation } from "../model/mutations.ts";
import type { Duration } from "./duration.ts";
import type { EventTypeOf, UndeclaredType } from "./workflow-types.ts";

/** What `run` is called with. The same in every passage: payload, timestamp and ids never change. */
export interface WorkflowEvent<Params = any> {
  readonly payload: Readonly<Params>;
  /** When the instance was created. */
  readonly timestamp: Date;
  readonly instanceId: string;
  readonly workflowName: string;
}

/**
 * What `run` works with. Every call is durable: once it has completed it answers from history. `Events` are the payloads of the
 * events that the workflow declares, by type.
 */
export interface WorkflowStep<Events = any> {
  /** Runs the callback until it succeeds or its retries are used up, and remembers the result. */
  do<Result>(name: string, callback: StepCallback<Result>): Promise<Result>;
  do<Result>(name: string, config: StepConfig | null, callback: StepCallback<Result>): Promise<Result>;
  /** Waits for a time that is written down once. */
  sleep(name: string, duration: Duration): Promise<void>;
  sleepUntil(name: string, timestamp: Date | number): Promise<void>;
  /** Waits for an event of a type sent to this instance, or for a publication on a topic. */
  waitForEvent<Payload = any>(
    name: string,
    options: WaitOptions<Payload, UndeclaredType<Events>>,
  ): Promise<ReceivedEvent<Payload>>;
  waitForEvent<Type extends EventTypeOf<Events>>(
    name: string,
    options: TypeWait<Events[Type], Type>,
  ): Promise<ReceivedEvent<Events[Type], Type>>;
  /** Durable log lines, kept with the instance. */
  readonly log: WorkflowLogger;
}

export type StepCallback<Result> = (context: StepContext) => Promise<Result> | Result;

/** Run again what was cut off, or fail. */
export type IfInterrupted = "retry" | "fail";

export type Backoff = "constant" | "linear" | "exponential";

export interface StepConfig {
  /** `false` or `limit: 0` for none. What is left out keeps its default (5 retries, 10 seconds, exponential). */
  readonly retries?: RetryConfig | false;
  /** For each attempt; default 10 minutes. */
  readonly timeout?: Duration;
  /** The name may be used while it is in flight: the order of the calls numbers them, as `name`, `name#2`, `name#3`. */
  readonly repeat?: boolean;
  /** What to do when a crash, a shutdown or a pause cut off the body: run it again (default), or fail the step. */
  readonly ifInterrupted?: IfInterrupted;
  /**
   * Keeps what the step returns out of everything that shows what is recorded: details, history, exports, the command line and
   * the dashboard, unless `showSensitive` of the app allows it. The workflow itself gets it as always.
   */
  readonly sensitive?: "output";

  /** The same in other words: */
  readonly retriesAllowed?: boolean;
  readonly maxAttempts?: number;
  readonly intervalSeconds?: number;
  readonly backoffRate?: number;
  readonly timeoutSeconds?: number;
}

export interface RetryConfig {
  /** Retries, not attempts: 2 means up to three attempts. Infinity is legal. */
  readonly limit?: number;
  readonly delay?: Duration | RetryDelay;
  readonly backoff?: Backoff;
  /** No delay grows beyond this. */
  readonly maxDelay?: Duration;
}

/** Decides the delay before the next attempt from the attempt that failed; backoff still applies to it. */
export type RetryDelay = (failure: {
  readonly ctx: StepContext;
  readonly error: Error;
}) => Duration | Promise<Duration>;

/** The argument of a step's callback. */
export interface StepContext {
  readonly step: { readonly name: string; readonly count: number };
  /** 1 for the first start of the body; starts cut off by a crash count too. */
  readonly attempt: number;
  readonly config: ResolvedStepConfig;
  /** Aborts when the attempt times out, the instance is terminated, the lease is lost or the runner stops. */
  readonly signal: AbortSignal;
  /** The same on every attempt of this step: hand it to services that remember what they have done. */
  readonly idempotencyKey: string;
  /** Writes in the transaction that records this step. They run after the callback returned, or not at all. */
  readonly mutate: (mutation: Mutation) => void;
  readonly serviceCalls: (calls: () => readonly Mutation[]) => void;
  /** Writes in the transaction that records that this step failed for good. */
  readonly onTerminalError: { readonly mutate: (mutation: Mutation) => void };
  /** Creates another instance with this step's record, or not at all. Gives its id. */
  readonly startWorkflow: <Params = any>(
    workflow: string | { readonly name: string; readonly "~types"?: { readonly params: Params } },
    options?: StartOptions<Params>,
  ) => string;
  /** Sends an event to another instance with this step's record, or not at all. */
  readonly sendEvent: <Events = any>(to: EventAddress<Events>, event: OutgoingEvent<NoInfer<Events>>) => void;
}

export interface ResolvedStepConfig {
  readonly retries: {
    readonly limit: number;
    readonly delay: Duration | RetryDelay;
    readonly backoff: Backoff;
  };
  readonly timeout: Duration;
}

export interface StartOptions<Params = any> {
  readonly id?: string;
  readonly params?: Params;
}

export interface EventAddress<Events = any> {
  /** A definition, whose events are typed then, or a name. */
  readonly workflow: string | { readonly name: string; readonly "~types"?: { readonly events: Events } };
  readonly id: string;
}

/** An event to send: one of those that the workflow declares, or any where it declares none. */
export type OutgoingEvent<Events = any> = {
  [Type in EventTypeOf<Events>]: EventOfType<Type, Events[Type]>;
}[EventTypeOf<Events>];

/** The payload may be left out where `undefined` is a fit value for it. */
type EventOfType<Type, Payload> = undefined extends Payload
  ? EventBase<Type> & { readonly payload?: Payload }
  : EventBase<Type> & { readonly payload: Payload };

interface EventBase<Type> {
  readonly type: Type;
  /** Sending it again with the same key has no further effect; generated when left out. */
  readonly idempotencyKey?: string | undefined;
}

interface WaitBase<Payload, Type extends string = string> {
  /** Default 24 hours, from 1 second to 365 days. */
  readonly timeout?: Duration;
  /** Called once with the event before the wait completes; its writes commit with the consumption. */
  readonly onConsume?: (
    event: ReceivedEvent<Payload, Type>,
    tx: Pick<StepContext, "mutate" | "serviceCalls">,
  ) => unknown;
}

/** Waits for an event of a type. */
export interface TypeWait<Payload = any, Type extends string = string> extends WaitBase<Payload, Type> {
  readonly type: Type;
  readonly topic?: never;
}

/** Waits for a publication on a topic. */
export interface TopicWait<Payload = any> extends WaitBase<Payload> {
  readonly topic: string;
  readonly type?: never;
}

export type WaitOptions<Payload = any, Type extends string = string> =
  | TypeWait<Payload, Type>
  | TopicWait<Payload>;

export interface ReceivedEvent<Payload = any, Type extends string = string> {
  /** The event's type, or the topic it was published on. */
  readonly type: Type;
  readonly payload: Readonly<Payload>;
  readonly timestamp: Date;
}

export interface WorkflowLogger {
  debug(message: string, data?: unknown, options?: LogOptions): Promise<void>;
  info(message: string, data?: unknown, options?: LogOptions): Promise<void>;
  warn(message: string, data?: unknown, options?: LogOptions): Promise<void>;
  error(message: string, data?: unknown, options?: LogOptions): Promise<void>;
}

export interface LogOptions {
  /** Default `workflow`. The category `system` belongs to the engine. */
  readonly category?: string;
}
