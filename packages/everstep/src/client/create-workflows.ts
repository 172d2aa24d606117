import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { MigrateOptions } from "../store/store.ts";
import type { App, Handles } from "./app.ts";
import { type AppOptions, checkApp, checkObserver, checkTick, pruneLimit } from "./app-options.ts";
import { withParts } from "./app-parts.ts";
import { appReading } from "./app-reading.ts";
import { buildApp } from "./build-app.ts";
import { checkCode } from "./check-code.ts";
import { publish } from "./publish.ts";
import { manifestOf, registerWorkflows } from "./register-workflows.ts";
import { stopperOf } from "./stop-app.ts";
import { verifyApp } from "./verify-app.ts";
import { LocalWorkflowHandle } from "./workflow-handle.ts";
import { workflowNamed } from "./workflow-named.ts";

/** An app: workflows on a store, with a runner that `start` sets going. `names`: what else whoever calls it reads. */
export function createWorkflows<const Workflows extends Record<string, WorkflowDefinition>>(
  options: AppOptions<Workflows>,
  names?: Readonly<Record<string, true>>,
): App<Workflows> {
  checkApp(options as AppOptions<never>, names);
  const built = buildApp(options);
  const { parts, access } = built;
  const { store, runner, runtime, definitions, limits } = parts;
  const workflows: Record<string, LocalWorkflowHandle> = Object.create(null);
  for (const [key, definition] of Object.entries(options.workflows)) {
    workflows[key] = new LocalWorkflowHandle(definitions.get(definition.name) ?? definition, parts);
  }
  const app: App<Workflows> = {
    ...appReading(parts),
    workflows: workflows as unknown as Handles<Workflows>,
    workflow: (name) => workflowNamed(name, workflows),
    store: options.store,
    async migrate(migrateOptions = {}) {
      checkNames(migrateOptions, { plan: true } satisfies NamesOf<MigrateOptions>, "migrate");
      return access.migrate(migrateOptions);
    },
    manifest: async () => manifestOf(options.workflows, definitions),
    async start() {
      await parts.ready();
      for (const warning of await access.warnings()) parts.onProblem(warning);
      await runner.start();
    },
    stop: stopperOf(built),
    async tick(tickOptions) {
      const checked = checkTick(tickOptions);
      await parts.ready();
      return runner.tick(checked);
    },
    publish: async (topic, payload, publishOptions = {}) => publish(topic, payload, publishOptions, parts),
    async prune(pruneOptions = {}) {
      const limit = pruneLimit(pruneOptions);
      await parts.ready();
      const now = runtime.now();
      return store.prune({ before: now, limit, publicationsBefore: now - publicationMemoryMs });
    },
    async check(checkOptions = {}) {
      const { workflows: given } = checkOptions;
      const code = given ? registerWorkflows(given, limits, options.limits) : definitions;
      return checkCode(checkOptions, parts, code);
    },
    verify: (verifyOptions = {}) => verifyApp(verifyOptions, parts),
    observe: (observer) => built.observers.add(checkObserver(observer, "observe")),
  };
  return withParts(app, parts);
}

/** How long a publication's id is remembered, so that publishing it again has no effect. */
const publicationMemoryMs = 7 * 24 * 60 * 60 * 1000;
