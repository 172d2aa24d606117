/** Puts programs of the corpus into one everstep app, in either mode. */

import type { WorkflowDefinition, WorkflowEvent, WorkflowStep } from "everstep";
import {
  type App,
  createWorkflows,
  defineWorkflow,
  EverstepError,
  NonRetryableError,
  type RunnerSettings,
} from "everstep";
import { createBinding, defineEntrypoint, WorkflowEntrypoint } from "everstep/cloudflare";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { makeApi, type Notebook, type Operation, type Program, performWithBinding } from "./harness.ts";

/** Safe against a killed process, and no program measures how long the disk takes to be safe against a power failure. */
export function openSqlite(path: string): Store {
  return sqlite({ path, synchronous: "normal" });
}

/** Cloudflare's binding and a class, or everstep's own handle and a function. */
export type Mode = "cloudflare" | "everstep";

export interface Hosting {
  readonly mode: Mode;
  readonly store: Store;
  readonly programs: readonly Program[];
  readonly notebookOf: (program: Program) => Notebook;
  readonly runner?: RunnerSettings;
}

export interface Host {
  /** Sets the runner going; again is no harm. */
  start(): Promise<void>;
  perform(program: Program, operation: Operation): Promise<Record<string, unknown>>;
  /** Ends the app; throws if it had problems that no program saw. */
  stop(): Promise<void>;
}

export function createHost(hosting: Hosting): Host {
  const { mode, store, programs, notebookOf, runner = {} } = hosting;
  const problems: unknown[] = [];
  const bindings = new Map<Program, object>();
  const define = (program: Program): WorkflowDefinition =>
    defineProgram(program, mode, (event, step) => {
      const engine = { NonRetryableError, self: bindings.get(program) };
      return program.run(event, step, makeApi(notebookOf(program), event.instanceId, engine));
    });
  const app: App = createWorkflows({
    onNotice: () => {},
    workflows: Object.fromEntries(programs.map((program) => [program.name, define(program)])),
    store,
    runner,
    onProblem: (problem) => {
      // The servers of a test run need not survive a power failure.
      const isExpected = problem instanceof EverstepError && problem.code === "STORE_UNSAFE";
      if (!isExpected) problems.push(problem);
    },
  });
  for (const program of programs) {
    const handle = app.workflows[program.name]!;
    bindings.set(program, mode === "cloudflare" ? createBinding(app, program.name) : handle);
  }
  return {
    start: () => app.start(),
    perform: (program, operation) => performWithBinding(bindings.get(program)!, operation),
    async stop() {
      await app.stop({ grace: 0 });
      if (problems.length > 0) throw new AggregateError(problems, "The app reported problems");
    },
  };
}

/**
 * A host whose runner starts after its first operation. The recorded engine wakes nothing by itself after a reload, so
 * programs touch their instance; one that everstep has already finished by then would refuse to be touched.
 */
export function touchFirst(host: Host): Host {
  return {
    ...host,
    async perform(program, operation) {
      try {
        return await host.perform(program, operation);
      } finally {
        await host.start();
      }
    },
  };
}

function defineProgram(
  program: Program,
  mode: Mode,
  runProgram: (event: WorkflowEvent, step: WorkflowStep) => unknown,
): WorkflowDefinition {
  const { stepLimit } = program.settings ?? {};
  const options = { name: program.name, limits: stepLimit === undefined ? {} : { maxSteps: stepLimit } };
  if (mode === "everstep") return defineWorkflow(options, runProgram);
  return defineEntrypoint(
    options,
    class extends WorkflowEntrypoint {
      override async run(event: WorkflowEvent, step: WorkflowStep): Promise<unknown> {
        return runProgram(event, step);
      }
    },
  );
}
