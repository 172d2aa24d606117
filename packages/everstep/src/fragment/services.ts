/** The lifecycle operations by name, for code that has a workflow's name and not its binding. */
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type { App } from "../client/app.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import type { CreateOptions, ListOptions, LogsOptions, RestartOptions } from "../handles/options.ts";
import type { InstanceStatusView, InstanceView } from "../handles/views.ts";
import type { WorkflowHandle } from "../handles/workflow-handle.ts";
import { EverstepError } from "../model/error.ts";
import type { HistoryPage, InstanceFacts, LogLineView, StepView, WaiterView } from "../wire/index.ts";
import type { ForkOptions, HistoryPageOptions, PageOptions, RetryOptions } from "../wire/options.ts";
import type { PageEnd, PageView } from "../wire/page.ts";

export interface InstanceDetails {
  readonly id: string;
  readonly details: InstanceStatusView;
}

export interface InstancePage extends PageEnd {
  readonly instances: readonly InstanceDetails[];
}

export interface ListHistoryOptions extends HistoryPageOptions {
  readonly workflowName: string;
  readonly instanceId: string;
}

/** Everything about an instance but its status. */
export type InstanceMeta = Omit<InstanceFacts, "id"> & { readonly currentStep?: StepView };

type Why = Awaited<ReturnType<InstanceHandle["why"]>>;
type RestartOrCreateOptions = Omit<Parameters<WorkflowHandle["restartOrCreate"]>[0], "id">;
type Verify = App["verify"];

export interface WorkflowsServices {
  listWorkflows(): readonly { readonly name: string }[];
  createInstance(workflowName: string, options?: CreateOptions): Promise<InstanceDetails>;
  /** Ids that exist are skipped and left out of the answer. */
  createBatch(
    workflowName: string,
    batch: readonly (CreateOptions & { readonly id: string })[],
  ): Promise<readonly InstanceDetails[]>;
  restartOrCreate(
    workflowName: string,
    instanceId: string,
    options?: RestartOrCreateOptions,
  ): Promise<InstanceDetails & { readonly outcome: "created" | "restarted" | "unchanged" }>;

  getInstanceStatus(workflowName: string, instanceId: string): Promise<InstanceStatusView>;
  getInstanceMeta(workflowName: string, instanceId: string): Promise<InstanceMeta>;
  getInstanceCurrentStep(workflowName: string, instanceId: string): Promise<StepView | undefined>;
  /** Why it is not moving. */
  explainInstance(workflowName: string, instanceId: string): Promise<Why>;
  listInstances(query: ListOptions & { readonly workflowName: string }): Promise<InstancePage>;
  listHistory(query: ListHistoryOptions): Promise<HistoryPage>;
  listLogs(workflowName: string, instanceId: string, options?: LogsOptions): Promise<PageView<LogLineView>>;
  listRuns(workflowName: string, instanceId: string): Promise<readonly InstanceView[]>;
  countInstances: App["counts"];

  pauseInstance(workflowName: string, instanceId: string): Promise<void>;
  resumeInstance(workflowName: string, instanceId: string): Promise<void>;
  terminateInstance(
    workflowName: string,
    instanceId: string,
    options?: { readonly reason?: string },
  ): Promise<void>;
  restartInstance(workflowName: string, instanceId: string, options?: RestartOptions): Promise<void>;
  forkInstance(workflowName: string, instanceId: string, options?: ForkOptions): Promise<InstanceDetails>;
  retryFailedStep(workflowName: string, instanceId: string, options?: RetryOptions): Promise<void>;
  skipSleep(workflowName: string, instanceId: string): Promise<void>;

  /** What the instance's status is then. */
  sendEvent(workflowName: string, instanceId: string, event: OutgoingEvent): Promise<InstanceStatusView>;
  publish: App["publish"];
  listWaiters(topic: string, options?: PageOptions): Promise<PageView<WaiterView>>;
  verify: Verify;
}

export function createServices(app: App): WorkflowsServices {
  const workflow = (name: string): WorkflowHandle => workflowOf(app, name);
  const instance = (name: string, id: string): InstanceHandle => workflow(name).at(id);
  return {
    listWorkflows: () => handlesOf(app).map(({ name }) => ({ name })),
    async createInstance(name, options = {}) {
      const created = await workflow(name).create(options);
      return options.ifExists === "return"
        ? { id: created.id, details: await created.status() }
        : active(created);
    },
    createBatch: async (name, batch) => (await workflow(name).createBatch(batch)).map(active),
    async restartOrCreate(name, id, options = {}) {
      const { outcome, instance: found } = await workflow(name).restartOrCreate({ ...options, id });
      return { outcome, id, details: await found.status() };
    },

    getInstanceStatus: async (name, id) => instance(name, id).status(),
    async getInstanceMeta(name, id) {
      const details = await instance(name, id).details();
      const { id: _id, status: _status, output: _output, error: _error, ...meta } = details;
      return meta;
    },
    getInstanceCurrentStep: async (name, id) => (await instance(name, id).details()).currentStep,
    explainInstance: async (name, id) => instance(name, id).why(),
    async listInstances({ workflowName, ...options }) {
      const { items, ...end } = await workflow(workflowName).list(options);
      return { instances: items.map(detailsOf), ...end };
    },
    listHistory: async ({ workflowName, instanceId, ...page }) =>
      instance(workflowName, instanceId).history(page),
    listLogs: async (name, id, options) => instance(name, id).logs(options),
    listRuns: async (name, id) => instance(name, id).runs(),
    countInstances: (name) => app.counts(name),

    pauseInstance: async (name, id) => instance(name, id).pause(),
    resumeInstance: async (name, id) => instance(name, id).resume(),
    terminateInstance: async (name, id, options) => instance(name, id).terminate(options),
    restartInstance: async (name, id, options) => instance(name, id).restart(options),
    forkInstance: async (name, id, options) => active(await instance(name, id).fork(options)),
    retryFailedStep: async (name, id, options) => instance(name, id).retryFailedStep(options),
    skipSleep: async (name, id) => instance(name, id).skipSleep(),

    async sendEvent(name, id, event) {
      const found = instance(name, id);
      await found.sendEvent(event);
      return found.status();
    },
    publish: (topic, payload, options) => app.publish(topic, payload, options),
    listWaiters: (topic, options) => app.waiters(topic, options),
    verify: (options) => app.verify(options),
  };
}

function handlesOf(app: App): readonly WorkflowHandle[] {
  return Object.values(app.workflows);
}

function workflowOf(app: App, workflowName: string): WorkflowHandle {
  const handles = handlesOf(app);
  const found = handles.find(({ name }) => name === workflowName);
  if (found) return found;
  const names = handles.map(({ name }) => name).join(", ") || "none";
  throw new EverstepError(
    "WORKFLOW_NOT_FOUND",
    `There is no workflow "${String(workflowName)}" in this fragment; registered are: ${names}. ` +
      "Services take a workflow's name, not its binding key.",
  );
}

function active({ id }: InstanceHandle): InstanceDetails {
  return { id, details: { status: "active" } };
}

function detailsOf(view: InstanceView): InstanceDetails {
  switch (view.status) {
    case "complete":
      return { id: view.id, details: { status: view.status, output: view.output } };
    case "errored":
      return { id: view.id, details: { status: view.status, error: view.error } };
    default:
      return { id: view.id, details: { status: view.status } };
  }
}
