import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { Duration } from "../authoring/duration.ts";
import { parseDuration } from "../authoring/duration.ts";
import type { App } from "../client/app.ts";
import { createNames } from "../client/creation-draft.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import type { CreateOptions } from "../handles/options.ts";
import type { InstanceStatusView } from "../handles/views.ts";
import type { WorkflowHandle } from "../handles/workflow-handle.ts";
import { EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";
import type { StepType } from "../model/step.ts";
import { bindingError, engineErrorName } from "./errors.ts";

/** A workflow as Cloudflare's code finds it in its environment. */
export interface Workflow<Params = unknown> {
  create(options?: WorkflowInstanceCreateOptions<Params>): Promise<WorkflowInstance>;
  /** At most 100; ids that exist or repeat are skipped and left out of the answer. */
  createBatch(batch: readonly WorkflowInstanceCreateOptions<Params>[]): Promise<WorkflowInstance[]>;
  get(id: string): Promise<WorkflowInstance>;
}

export interface WorkflowInstanceCreateOptions<Params = unknown> {
  readonly id?: string;
  readonly params?: Params;
  /** There is one retention for every outcome here: the longer of the two. */
  readonly retention?: { readonly successRetention?: Duration; readonly errorRetention?: Duration };
}

export interface WorkflowInstance {
  readonly id: string;
  status(): Promise<InstanceStatus>;
  /** Stops after the steps in flight, and stops the clock; has no effect on one that has ended. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  terminate(options?: { readonly rollback?: boolean }): Promise<void>;
  restart(options?: WorkflowInstanceRestartOptions): Promise<void>;
  sendEvent(event: { readonly type: string; readonly payload?: unknown }): Promise<void>;
  /** Removes it with everything that was recorded of it, whatever it is doing. Its id is free again. */
  delete(): Promise<void>;
}

export interface WorkflowInstanceRestartOptions {
  /** Keep what was recorded before this step, and run from it. */
  readonly from?: { readonly name: string; readonly count?: number; readonly type?: StepType };
}

/** All of Cloudflare's words. `queued`, `waitingForPause` and `unknown` are never said here. */
export type WorkflowInstanceStatus =
  | "queued"
  | "running"
  | "paused"
  | "errored"
  | "terminated"
  | "complete"
  | "waiting"
  | "waitingForPause"
  | "unknown";

export interface InstanceStatus {
  readonly status: WorkflowInstanceStatus;
  /** Given when complete, as JSON has it: a Date is text, nothing is null. */
  readonly output?: unknown;
  /** Given when errored. */
  readonly error?: { readonly name: string; readonly message: string };
}

type ParamsOf<Definition> = Definition extends WorkflowDefinition<infer Params, unknown> ? Params : unknown;

/** One workflow of an app with the interface of Cloudflare's bindings: `createBinding(app, "ORDER")`. */
export function createBinding<
  Workflows extends Record<string, WorkflowDefinition>,
  Key extends keyof Workflows & string,
>(app: App<Workflows>, key: Key): Workflow<ParamsOf<Workflows[Key]>> {
  const handle: WorkflowHandle | undefined = app.workflows[key];
  if (handle === undefined) {
    throw new EverstepError(
      "WORKFLOW_NOT_FOUND",
      `The app has no workflow under "${key}". Use a key of the workflows it was created with.`,
    );
  }
  const instance = (found: InstanceHandle): WorkflowInstance => new BoundInstance(found);
  return {
    create: (options = {}) => speaking(async () => instance(await handle.create(createOptions(options)))),
    createBatch: (batch) =>
      speaking(async () => {
        const created = await handle.createBatch(
          Array.isArray(batch) ? batch.map(createOptions) : (batch as never),
        );
        return created.map(instance);
      }),
    get: (id) => speaking(async () => instance(await handle.get(id))),
  };
}

class BoundInstance implements WorkflowInstance {
  readonly id: string;
  readonly #handle: InstanceHandle;

  constructor(handle: InstanceHandle) {
    this.id = handle.id;
    this.#handle = handle;
  }

  status(): Promise<InstanceStatus> {
    return speaking(async () => statusInCloudflaresWords(await this.#handle.status()));
  }

  pause(): Promise<void> {
    return speaking(() => this.#handle.pause().catch(unlessEnded));
  }

  resume(): Promise<void> {
    return speaking(() => this.#handle.resume());
  }

  terminate(options: { readonly rollback?: boolean } = {}): Promise<void> {
    return speaking(async () => {
      if (options.rollback === true) throw noRollback(this.id);
      await this.#handle.terminate();
    });
  }

  restart({ from }: WorkflowInstanceRestartOptions = {}): Promise<void> {
    return speaking(() => this.#handle.restart({ from }));
  }

  sendEvent(event: { readonly type: string; readonly payload?: unknown }): Promise<void> {
    return speaking(() => this.#handle.sendEvent(event));
  }

  delete(): Promise<void> {
    return speaking(() => this.#handle.delete({ force: true }));
  }
}

async function speaking<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw bindingError(error);
  }
}

function unlessEnded(error: unknown): void {
  if (!(error instanceof EverstepError && error.code === "INSTANCE_TERMINAL")) throw error;
}

function noRollback(id: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `Instance "${id}" cannot be rolled back: rollback handlers are not supported. Terminate it without rollback, ` +
      "or undo in a catch block with a step of its own.",
  );
}

function createOptions<Params>(options: WorkflowInstanceCreateOptions<Params>): CreateOptions<Params> {
  if (typeof options !== "object" || options === null) return options;
  const { retention, ...all } = options;
  // Cloudflare ignores what it does not know.
  const known = Object.entries(all).filter(([name]) => Object.hasOwn(createNames, name));
  const others: CreateOptions<Params> = Object.fromEntries(known);
  if (retention === undefined) return others;
  const given = [retention.successRetention, retention.errorRetention].filter((time) => time !== undefined);
  if (given.length === 0) return others;
  return { ...others, retention: Math.max(...given.map((time) => parseDuration(time, "retention"))) };
}

function statusInCloudflaresWords(view: InstanceStatusView): InstanceStatus {
  const { status, output, error } = view;
  if (status === "active") return { status: "running" };
  if (status === "complete") return { status, output: jsonView(output) };
  if (!error) return { status };
  const { name, message, code } = error;
  return { status, error: { name: name === "EverstepError" ? engineErrorName(code) : name, message } };
}

function jsonView(value: unknown): unknown {
  const text = JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part));
  return text === undefined ? null : parseJson(text);
}
