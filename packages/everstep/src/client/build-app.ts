/** Puts together what an app is made of. */
import type { TurnScope } from "../engine/turn-host.ts";
import { CommitGroup } from "../runner/commit-group.ts";
import { HintSender } from "../runner/hint-sender.ts";
import { NudgeWatch } from "../runner/nudge-watch.ts";
import { Observers } from "../runner/observers.ts";
import { Runner } from "../runner/runner.ts";
import { type AppOptions, checkDispatcher, checkInterrupted, runnerOptions } from "./app-options.ts";
import type { AppParts } from "./app-parts.ts";
import { EndWatch } from "./end-watch.ts";
import { Endings } from "./endings.ts";
import { Instant } from "./instant.ts";
import { Announcer, hooksWorkflowName, withHooks } from "./lifecycle-hooks.ts";
import { noticeObserver } from "./listeners.ts";
import { limitsOf, registerWorkflows } from "./register-workflows.ts";
import { StoreAccess } from "./store-access.ts";

export interface BuiltApp {
  readonly parts: AppParts;
  readonly access: StoreAccess;
  readonly hints: HintSender | null;
  readonly observers: Observers;
}

export function buildApp(options: AppOptions<any>): BuiltApp {
  const { hooks = {} } = options;
  const limits = limitsOf(options.limits);
  const ifInterrupted = checkInterrupted(options.ifInterrupted, options.store);
  const runnerSettings = { ...runnerOptions(options.runner), ifInterrupted };
  const definitions = registerWorkflows(withHooks(options.workflows, hooks), limits, options.limits);
  const dispatcher = checkDispatcher(options.dispatcher);
  const observers = new Observers([noticeObserver(options.onNotice), ...(options.observers ?? [])]);
  const access = new StoreAccess(options.store, options.runtime, observers.all, options.onProblem);
  const { store, runtime, patience, onProblem } = access;
  const announcer = new Announcer(hooks, runtime);
  const endings = new Endings();
  const hints = dispatcher ? new HintSender({ dispatcher, store, runtime, patience, onProblem }) : null;
  if (hints) observers.add(hints);
  const group = new CommitGroup(store, runtime, {
    patience,
    onBack: () => runner.storeIsBack(),
    observer: observers.all,
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
    observers,
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
  return { parts, access, hints, observers };
}
