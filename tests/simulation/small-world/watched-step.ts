/** A workflow's steps, with every start of a body written into the ledger together with what its branch saw before. */
import type {
  ReceivedEvent,
  StepCallback,
  StepConfig,
  StepContext,
  WaitOptions,
  WorkflowEvent,
  WorkflowStep,
} from "../../../packages/everstep/src/authoring/workflow-step.ts";
import type { AsyncScope } from "../../../packages/everstep/src/model/runtime.ts";
import { systemRuntime } from "../../../packages/everstep/src/system-runtime.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { inWords } from "../programs/perform.ts";

/** What was handed over so far: to the function itself, or within one execution of a body. */
interface View {
  seen: string;
}

const views: AsyncScope<View> = /* @__PURE__ */ systemRuntime.createScope<View>();

/** Bodies begin and end as they always do; author code notices nothing. */
export function watchedStep(
  step: WorkflowStep,
  event: WorkflowEvent,
  member: Member,
  ledger: Ledger,
): WorkflowStep {
  const whole: View = { seen: "" };
  const view = (): View => views.current() ?? whole;
  const watched =
    <Result>(callback: StepCallback<Result>, seen: string): StepCallback<Result> =>
    async (context: StepContext) => {
      const watch = ledger.begin(member, { event, context, path: "", seen });
      try {
        const result = await views.run({ seen }, async () => callback(context));
        watch.end("returned");
        return result;
      } catch (error) {
        watch.end("threw");
        throw error;
      }
    };
  return {
    log: step.log,
    do<Result>(
      name: string,
      given: StepConfig | null | StepCallback<Result>,
      callback?: StepCallback<Result>,
    ): Promise<Result> {
      const asked = view();
      const [config, body] =
        typeof given === "function" ? [null, given] : [given, callback as StepCallback<Result>];
      return noted(step.do(name, config, watched(body, asked.seen)), name, asked);
    },
    sleep: (name, duration) => noted(step.sleep(name, duration), name, view()),
    sleepUntil: (name, timestamp) => noted(step.sleepUntil(name, timestamp), name, view()),
    waitForEvent: <Payload>(name: string, options: WaitOptions<Payload>): Promise<ReceivedEvent<Payload>> =>
      noted(step.waitForEvent(name, options), name, view()),
  };
}

function noted<Result>(answer: Promise<Result>, name: string, view: View): Promise<Result> {
  const note = (words: string): void => {
    view.seen += ` ${name}: ${words};`;
  };
  const told = answer.then(
    (value) => {
      note(JSON.stringify(value) ?? "nothing");
      return value;
    },
    (error: unknown) => {
      note(inWords(error));
      throw error;
    },
  );
  // A step that nobody awaits may fail without taking the process down, as in the engine itself.
  told.catch(() => {});
  return told;
}
