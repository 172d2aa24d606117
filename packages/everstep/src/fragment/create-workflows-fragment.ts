import type { Authorize } from "../http/authorize.ts";
import { type App, createWorkflows } from "../http/create-workflows.ts";
import { createHandler, type Handler } from "../http/handler.ts";
import { EverstepError } from "../model/error.ts";
import type {
  RunnerTickOptions,
  WorkflowsFragmentConfig,
  WorkflowsFragmentOptions,
  WorkflowsRegistry,
  WorkflowsRunner,
} from "./fragment-config.ts";
import { runtimeFrom } from "./fragno-runtime.ts";
import { createServices, type WorkflowsServices } from "./services.ts";

export interface WorkflowsFragment<Workflows extends WorkflowsRegistry = WorkflowsRegistry> {
  readonly name: "workflows";
  readonly mountRoute: string;
  /** A handle per workflow, by the key it is registered with: `fragment.workflows.BILLING.create(...)`. */
  readonly workflows: App<Workflows>["workflows"];
  /** The same operations by the workflow's name, as the routes have them. */
  readonly services: WorkflowsServices;
  /** The routes. */
  readonly handler: Handler;
  /** The same, under the name servers look for. */
  readonly fetch: Handler;
  /** Who takes the turns of the tick route. */
  readonly runner: { tick(options?: RunnerTickOptions): Promise<{ readonly processed: number }> };
  /** The app underneath, which has everything else. */
  readonly app: App<Workflows>;
  /** Runs instances in this process until `stop`. */
  start(): Promise<void>;
  /** Ends what was started and closes the store. */
  readonly stop: App["stop"];
}

const defaultMountRoute = "/api/workflows";

/** Workflows as a fragment of a host: bindings, services and routes over one store. */
export function createWorkflowsFragment<const Workflows extends WorkflowsRegistry>(
  config: WorkflowsFragmentConfig<Workflows>,
  options: WorkflowsFragmentOptions,
): WorkflowsFragment<Workflows> {
  checkRuntime(config);
  const { mountRoute = defaultMountRoute, http, ...others } = options;
  const authorize = authorizeFrom(config);
  const handlerOptions = { ...http, basePath: mountRoute, tick: config.authorizeRunnerTick !== undefined };
  const app = createWorkflows({
    ...others,
    workflows: config.workflows ?? ({} as Workflows),
    runtime: runtimeFrom(config.runtime),
    ...(config.dispatcher ? { dispatcher: config.dispatcher } : {}),
    authorize,
    http: handlerOptions,
  });
  const { runner: given } = config;
  const runner =
    given === undefined ? { tick: (limits?: RunnerTickOptions) => app.tick(limits) } : runnerOf(given);
  const handler =
    given === undefined ? app.fetch : createHandler(tickedBy(runner, app), { ...handlerOptions, authorize });
  return {
    name: "workflows",
    mountRoute,
    workflows: app.workflows,
    services: createServices(app),
    handler,
    fetch: handler,
    runner,
    app,
    async start() {
      if (given === null) throw notAvailable();
      await app.start();
    },
    stop: (stopOptions) => app.stop(stopOptions),
  };
}

function authorizeFrom(config: WorkflowsFragmentConfig): Authorize {
  const hooks = {
    request: config.authorizeRequest,
    instanceCreation: config.authorizeInstanceCreation,
    read: config.authorizeRead,
    management: config.authorizeManagement,
    sendEvent: config.authorizeSendEvent,
    runnerTick: config.authorizeRunnerTick,
  };
  return Object.fromEntries(Object.entries(hooks).filter(([, hook]) => hook !== undefined));
}

function runnerOf(given: WorkflowsRunner | null): WorkflowsFragment["runner"] {
  return {
    async tick(limits = {}) {
      if (given === null) throw notAvailable();
      const ticked = await given.tick(limits);
      return typeof ticked === "number" ? { processed: ticked } : { processed: ticked.processed };
    },
  };
}

/** The app as the routes see it. The app itself keeps its own tick: the runner that was given may well call it. */
function tickedBy(runner: WorkflowsFragment["runner"], app: App): App {
  return Object.create(app, { tick: { value: runner.tick } });
}

function checkRuntime({ runtime }: WorkflowsFragmentConfig): void {
  if (typeof runtime?.time?.now === "function" && typeof runtime.random?.uuid === "function") return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "createWorkflowsFragment needs a runtime: { time: { now }, random: { float, uuid, cuid } }. " +
      "fragnoRuntime(systemRuntime) is the system's.",
  );
}

function notAvailable(): EverstepError {
  return new EverstepError(
    "RUNNER_NOT_AVAILABLE",
    "This fragment was made with runner: null, so nothing runs here. Tick where the runner is, or leave `runner` out.",
  );
}
