/** What must hold, said by those whose workflows are simulated: asked, and put into words when it does not. */
import type { WorkflowDefinition } from "../../../authoring/define-workflow.ts";
import { eventView, instanceView, stepView } from "../../../client/views.ts";
import type { InstanceView } from "../../../handles/views.ts";
import { EverstepError } from "../../../model/error.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { EventView, StepView } from "../../../wire/index.ts";

/** An instance as it is in the store at that moment, with all its steps and events. */
export type SimulatedInstance = InstanceView & {
  /** The name code uses for its workflow: the key in `workflows`. */
  readonly workflow: string;
  readonly steps: readonly StepView[];
  readonly events: readonly EventView[];
};

export interface InvariantContext<State> {
  /** The outside world of this seed. */
  readonly state: State;
  /** Every instance there is, in the order of their creation. */
  readonly instances: readonly SimulatedInstance[];
  readonly now: Date;
  readonly seed: number | string;
}

/**
 * Holds when it returns nothing or true. Broken when it throws, returns false, or returns a sentence that says what is
 * wrong. May be async.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a return fits, and so does one with
export type Invariant<State> = (context: InvariantContext<State>) => Verdict | void | Promise<Verdict | void>;

type Verdict = boolean | string | null | undefined;

export type Invariants<State> = Readonly<Record<string, Invariant<State>>>;

/** What it says is wrong; null where it holds. */
export async function complaintOf<State>(
  name: string,
  invariant: Invariant<State>,
  context: InvariantContext<State>,
): Promise<string | null> {
  let verdict: unknown;
  try {
    verdict = await invariant(context);
  } catch (error) {
    return thrownText(error);
  }
  if (verdict === undefined || verdict === null || verdict === true) return null;
  if (verdict === false) return "it returned false";
  if (typeof verdict === "string") return verdict;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `Invariant "${name}" returned ${typeof verdict === "object" ? "an object" : String(verdict)}. Return nothing or true where ` +
      "it holds; where it does not, return false or a sentence, or throw.",
  );
}

/** A slip in the invariant itself is looked for where it happened. */
function thrownText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isSlip = error instanceof TypeError || error instanceof ReferenceError;
  return isSlip ? (error.stack ?? error.message) : error.message;
}

/** Instances in words of the client, each made once per look at it. */
export class Looks {
  readonly #known = new WeakMap<RunFacts, SimulatedInstance>();
  readonly #keys: ReadonlyMap<string, string>;

  constructor(workflows: Readonly<Record<string, WorkflowDefinition>>) {
    this.#keys = new Map(Object.entries(workflows).map(([key, { name }]) => [name, key]));
  }

  at(facts: Iterable<RunFacts>, now: number): readonly SimulatedInstance[] {
    return [...facts].filter(({ isCurrent }) => isCurrent).map((each) => this.#look(each, now));
  }

  #look(facts: RunFacts, now: number): SimulatedInstance {
    const known = this.#known.get(facts);
    if (known) return known;
    const { record, steps, events } = facts;
    const look: SimulatedInstance = {
      ...instanceView(record, now),
      workflow: this.#keys.get(record.workflowName) ?? record.workflowName,
      steps: steps.toSorted((a, b) => a.index - b.index).map((step) => stepView(step)),
      events: events.map(eventView),
    };
    this.#known.set(facts, look);
    return look;
  }
}
