/** Puts together what an app is made of. */
import type { TurnScope } from "../engine/turn-host.ts";
import { CommitGroup } from "../runner/commit-group.ts";
import { HintSender } from "../runner/hint-sender.ts";
import { NudgeWatch } from "../runner/nudge-watch.ts";
import { Runner } from "../runner/runner.ts";
import { type AppOptions, checkDispatcher, checkInterrupted, runnerOptions } from "./app-options.ts";
import type { AppParts } from "./app-parts.ts";
import { EndWatch } from "./end-watch.ts";
import { Endings } from "./endings.ts";
import { Instant } from "./instant.ts";
import { Announcer, hooksWorkflowName, withHooks } from "./lifecycle-hooks.ts";
import { noticeListener } from "./listeners.ts";
import { limitsOf, registerWorkflows } from "./register-workflows.ts";
import { StoreAccess } from "./store-access.ts";

export interface BuiltApp {
  readonly parts: AppParts;
  readonly access: StoreAccess;
  readonly hints: HintSender | null;
}

export function buildApp(options: AppOptions<any>): BuiltApp {
  const { store, hooks = {} } = options;
  const limits = limitsOf(options.limits);
  const onInterrupted = checkInterrupted(options.onInterrupted, store);
  const runnerSettings = { ...runnerOptions(options.runner), onInterrupted };
  const definitions = registerWorkflows(withHooks(options.workflows, hooks), limits, options.limits);
  const dispatcher = checkDispatcher(options.dispatcher);
  const access = new StoreAccess(store, options.runtime, options.onProblem);
  const { runtime, patience, onProblem } = access;
  const announcer = new Announcer(hooks, runtime);
  const endings = new Endings();
  const hints = dispatcher ? new HintSender({ dispatcher, store, runtime, patience, onProblem }) : null;
  const group = new CommitGroup(store, runtime, {
    patience,
    onBack: () => runner.storeIsBack(),
    ...(hints ? { onWritten: (...write) => hints.written(...write) } : {}),
  });
  const nudges = new NudgeWatch({ store, runtime, onProblem });
  const runner = new Runner({
    store,
    runtime,
    group,
    scope: runtime.createScope<TurnScope>(),
    definitions,
    ownWorkflow: hooksWorkflowName,
    options: runnerSettings,
    nudges,
    freshenClock: () => access.freshenClock(),
    announce: (ref, next) => announcer.ended(ref, next),
    onEnded: (ref, next) => endings.ended(ref, next),
    onGivenBack: (refs) => hints?.givenBack(refs),
    onNotice: noticeListener(options.onNotice),
    onProblem,
  });
  const parts: AppParts = {
    store,
    reads: access.reads,
    runtime,
    group,
    runner,
    endings,
    endWatch: new EndWatch({ store, runtime, nudges }),
    instant: new Instant(runtime),
    announcer,
    definitions,
    limits,
    nudges,
    showSensitive: options.showSensitive ?? (() => false),
    onProblem,
    ready: (tx) => access.ready(tx),
  };
  return { parts, access, hints };
}
