import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { App as EmbeddedApp } from "../client/app.ts";
import type { AppOptions as EmbeddedOptions } from "../client/app-options.ts";
import { appNames as embeddedNames } from "../client/app-options.ts";
import { createWorkflows as createEmbedded } from "../client/create-workflows.ts";
import type { NamesOf } from "../model/known-names.ts";
import type { Authorize } from "./authorize.ts";
import { createHandler, type Handler, type HandlerFacts } from "./handler.ts";
import type { HttpOptions } from "./http-options.ts";

export interface AppOptions<Workflows extends Record<string, WorkflowDefinition>>
  extends EmbeddedOptions<Workflows> {
  /** Who may use the HTTP API. Without it nobody may. */
  readonly authorize?: Authorize;
  readonly http?: HttpOptions;
}

const appNames: NamesOf<AppOptions<never>> = { ...embeddedNames, authorize: true, http: true };

export interface App<
  Workflows extends Record<string, WorkflowDefinition> = Record<string, WorkflowDefinition>,
> extends EmbeddedApp<Workflows>,
    HandlerFacts {
  /** The HTTP API, as a function of the web's standard: for any server, under any path. */
  readonly fetch: Handler;
  /** The same with other options over its own: `everstep serve --dashboard`. */
  readonly fetchWith: (http: HttpOptions) => Handler & HandlerFacts;
  /** Nobody has said who may use the HTTP API, so nobody may: there is no `authorize`. */
  readonly isClosed: boolean;
}

/** An app: workflows on a store, with a runner that `start` sets going, and an HTTP API. */
export function createWorkflows<const Workflows extends Record<string, WorkflowDefinition>>(
  options: AppOptions<Workflows>,
): App<Workflows> {
  const app = createEmbedded(options, appNames);
  const { authorize, http = {} } = options;
  const fetchWith = (others: HttpOptions) =>
    createHandler(app, { ...http, ...others, ...(authorize ? { authorize } : {}) });
  const handler = fetchWith({});
  return Object.assign(app, {
    fetch: (request: Request) => handler(request),
    fetchWith,
    isOpen: handler.isOpen,
    isOpenToAll: handler.isOpenToAll,
    hosts: handler.hosts,
    isClosed: authorize === undefined,
  });
}
