/** A workflow as a simulation runs it: the author's function, unchanged, with a `step` that is watched. */
import type { WorkflowDefinition } from "../../../authoring/define-workflow.ts";
import type {
  StepCallback,
  StepContext,
  WaitOptions,
  WorkflowEvent,
  WorkflowStep,
} from "../../../authoring/workflow-step.ts";
import { Broken } from "../finding.ts";
import type { Member } from "../fleet.ts";
import type { Bodies } from "./bodies.ts";
import { answerText, type Passage } from "./passages.ts";
import { StepPromise } from "./step-promise.ts";
import { nameOf } from "./words.ts";
import { currentWorker, type Worker, type Works, waiting } from "./works.ts";

export const everyStepAwaited = "every step is awaited";

export interface WatchedHost {
  readonly member: Member;
  readonly works: Works;
  readonly bodies: Bodies;
  readonly workerIn: (member: Member, what: string) => Worker;
  readonly passageOf: (member: Member, event: WorkflowEvent) => Passage;
  /** A rule was broken by the author's code. */
  readonly onBroken: (error: unknown) => void;
}

interface AskedStep {
  readonly name: string;
  readonly promise: StepPromise<unknown>;
}

export function watchedWorkflow(definition: WorkflowDefinition, host: WatchedHost): WorkflowDefinition {
  return { ...definition, run: (event, step) => watchedRun(definition, event, step, host) };
}

function watchedRun(
  definition: WorkflowDefinition,
  event: WorkflowEvent,
  step: WorkflowStep,
  host: WatchedHost,
): Promise<unknown> {
  const { works, member, workerIn, passageOf, onBroken } = host;
  const passage = passageOf(member, event);
  const asked: AskedStep[] = [];
  const guarded = (rule: () => void): void => {
    try {
      rule();
    } catch (error) {
      onBroken(error);
    }
  };
  const worker = workerIn(member, `The function of workflow ${nameOf(event)}`);
  return works.run(worker, async () => {
    const watched = watchedStep(event, step, host, worker, {
      asked: (type, name, promise) => {
        asked.push({ name, promise });
        guarded(() => passage.asked(`${type} "${name}"`));
      },
      answered: (name, how) => guarded(() => passage.answered(`"${name}"`, how)),
    });
    const output = await definition.run(event, watched);
    guarded(() => passage.ended());
    guarded(() => allLookedAt(asked, event));
    return output;
  });
}

/** At a regular end only: after an error, steps that were begun early are rightly left alone. */
function allLookedAt(asked: readonly AskedStep[], event: WorkflowEvent): void {
  const forgotten = asked.find(({ promise }) => !promise.isLookedAt);
  if (!forgotten) return;
  throw new Broken({
    invariant: everyStepAwaited,
    message:
      `${nameOf(event)} returned and never looked at what step "${forgotten.name}" came to. ` +
      "What is still open then is lost: put an `await` in front of it.",
  });
}

/** A step that nobody awaits may fail without taking the process down, as in the engine itself. */
function heard<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {});
  return promise;
}

interface Watching {
  asked(type: string, name: string, promise: StepPromise<unknown>): void;
  answered(name: string, how: string): void;
}

type AnyDo = (...args: unknown[]) => Promise<unknown>;

function watchedStep(
  event: WorkflowEvent,
  step: WorkflowStep,
  { member, bodies, works, workerIn }: WatchedHost,
  outer: Worker,
  watching: Watching,
): WorkflowStep {
  const watchedBody =
    <Result>(callback: StepCallback<Result>): StepCallback<Result> =>
    (context: StepContext) =>
      bodies.run(member, event, context, callback);

  /** Calls inside of a body belong to that body, which may be run any number of times. */
  const noted = (type: string, name: string, answer: Promise<unknown>): Promise<never> => {
    if (currentWorker() !== outer) return heard(waiting(answer)) as Promise<never>;
    const told = answer.then(
      (value) => {
        watching.answered(name, answerText(value));
        return value;
      },
      (error: unknown) => {
        watching.answered(name, `! ${String(error)}`);
        throw error;
      },
    );
    const promise: StepPromise<unknown> = StepPromise.of(waiting(told));
    watching.asked(type, name, promise);
    return promise as Promise<unknown> as Promise<never>;
  };

  return {
    log: step.log,
    do: ((...args: unknown[]) => {
      const passed = args.map((arg, at) =>
        typeof arg === "function" && (at === 1 || at === 2) ? watchedBody(arg as StepCallback<unknown>) : arg,
      );
      return noted("do", String(args[0]), (step.do as AnyDo)(...passed));
    }) as WorkflowStep["do"],
    sleep: (name, duration) => noted("sleep", String(name), step.sleep(name, duration)),
    sleepUntil: (name, timestamp) => noted("sleep", String(name), step.sleepUntil(name, timestamp)),
    waitForEvent: (name: string, options: WaitOptions) => {
      const hook = options?.onConsume;
      if (typeof hook !== "function") return noted("wait", String(name), step.waitForEvent(name, options));
      const worker = workerIn(member, `The onConsume of "${name}" of ${nameOf(event)}`);
      const onConsume: typeof hook = (received, tx) => works.run(worker, () => hook(received, tx));
      return noted("wait", String(name), step.waitForEvent(name, { ...options, onConsume }));
    },
  };
}
