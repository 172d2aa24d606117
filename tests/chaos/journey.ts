/**
 * The workflows of the chaos. A journey performs its acts; every body is told the tokens of everything recorded before it
 * and gives back a token of its own, so the results form chains: whoever replaced a recorded result, gave a race to the
 * other side or handed out an event twice would break one.
 */
import {
  defineWorkflow,
  NonRetryableError,
  type ReceivedEvent,
  type StepConfig,
  type WorkflowDefinition,
  type WorkflowStep,
} from "everstep";
import { type Act, flakyThrowsMax, hopelessRetries } from "./acts.ts";
import { type Mark, type MarkedWork, planned, runMarked } from "./body.ts";
import type { Ledger } from "./ledger.ts";

export interface JourneyParams {
  readonly acts: readonly Act[];
}

export interface JourneyOutput {
  readonly values: readonly unknown[];
  /** Tokens of all that its last passage saw recorded. */
  readonly seen: readonly string[];
}

export interface ErrandParams {
  readonly ms: number;
  /** The instance that waits for it. */
  readonly journey: string;
}

export type ChaosWorkflows = Record<"JOURNEY" | "ERRAND", WorkflowDefinition>;

export function chaosWorkflows(ledger: Ledger): ChaosWorkflows {
  const journey = defineWorkflow<JourneyParams, JourneyOutput>({ name: "journey" }, async (event, step) => {
    const passage = new Passage(event.instanceId, step, ledger);
    return passage.performAll(event.payload.acts, "", []);
  });
  const errand = defineWorkflow<ErrandParams>({ name: "errand" }, async (event, step) => {
    const { ms, journey: id } = event.payload;
    const went = await step.do("go", (context) => runMarked(context, ledger, { seen: [], ms }));
    await step.do("report", (context) => {
      const report = {
        type: errandDone(event.instanceId),
        payload: { ms },
        idempotencyKey: event.instanceId,
      };
      context.sendEvent({ workflow: "journey", id }, report);
      return runMarked(context, ledger, { seen: [went.token], ms: 1 });
    });
    return ms;
  });
  return { JOURNEY: journey, ERRAND: errand };
}

/** Of the step whose start had this token, if that start was recorded. */
export function errandId(journey: string, token: string): string {
  return `${journey}-errand-${token}`;
}

function errandDone(id: string): string {
  return `done-${id}`;
}

/** What a later body sees of a wait: what it was given. */
export function waitToken(name: string, payload: { readonly number: number }): string {
  return `${name}: ${payload.number}`;
}

/** What a later body sees of a step that failed for good. */
export function failedToken(name: string): string {
  return `${name} failed`;
}

const quickRetries = (limit: number): StepConfig => ({ retries: { limit, delay: 30, backoff: "constant" } });
const waitMinutes = 20;

interface Performed {
  readonly values: readonly unknown[];
  readonly seen: readonly string[];
}

class Passage {
  readonly #id: string;
  readonly #step: WorkflowStep;
  readonly #ledger: Ledger;

  constructor(id: string, step: WorkflowStep, ledger: Ledger) {
    this.#id = id;
    this.#step = step;
    this.#ledger = ledger;
  }

  async performAll(acts: readonly Act[], place: string, before: readonly string[]): Promise<Performed> {
    let seen = before;
    const values: unknown[] = [];
    for (const [at, act] of acts.entries()) {
      const performed = await this.#perform(act, `${place}${at} ${act.kind}`, seen);
      seen = performed.seen;
      values.push(performed.value);
    }
    return { values, seen };
  }

  async #perform(
    act: Act,
    name: string,
    seen: readonly string[],
  ): Promise<{ readonly value: unknown; readonly seen: readonly string[] }> {
    const step = this.#step;
    const and = (token: string): readonly string[] => [...seen, token];
    switch (act.kind) {
      case "step":
        return { value: act.ms, seen: and(await this.#do(name, { seen, ms: act.ms })) };
      case "flaky": {
        const work = { seen, ms: act.ms, throws: act.throws };
        return { value: act.throws, seen: and(await this.#do(name, work, quickRetries(flakyThrowsMax))) };
      }
      case "hopeless":
        await this.#fail(name, { seen, ms: act.ms, throws: Number.POSITIVE_INFINITY });
        return { value: act.kind, seen: and(failedToken(name)) };
      case "once":
        return { value: act.kind, seen: and(await this.#once(name, { seen, ms: act.ms })) };
      case "sleep":
        await step.sleep(name, act.ms);
        return { value: act.kind, seen };
      case "letter": {
        const { payload } = await this.#wait(name, { type: "letter" });
        return { value: act.kind, seen: and(waitToken(name, payload)) };
      }
      case "news": {
        const { payload } = await this.#wait(name, { topic: act.topic });
        return { value: act.kind, seen: and(waitToken(name, payload)) };
      }
      case "nested":
        return { value: act.ms, seen: and(await this.#nested(name, act.ms, seen)) };
      case "race": {
        const [left, right] = act.ms;
        const sides = [
          this.#do(`${name} left`, { seen, ms: left }),
          this.#do(`${name} right`, { seen, ms: right }),
        ];
        return { value: act.kind, seen: and(await Promise.race(sides)) };
      }
      case "errand":
        return { value: act.ms, seen: and(await this.#errand(name, act.ms, seen)) };
      case "branches": {
        const branches = await Promise.all(
          act.branches.map((acts, at) => this.performAll(acts, `${name} ${at}.`, seen)),
        );
        const found = branches.flatMap((branch) => branch.seen.slice(seen.length));
        return { value: branches.map((branch) => branch.values), seen: [...seen, ...found] };
      }
    }
  }

  /** A step whose recorded start must have seen what this passage sees. */
  async #do(name: string, work: MarkedWork, config: StepConfig | null = null): Promise<string> {
    const mark = await this.#step.do(name, config, (context) => runMarked(context, this.#ledger, work));
    return this.#sameAs(mark, name, work.seen);
  }

  #sameAs(mark: Mark, name: string, seen: readonly string[]): string {
    if (mark.seen.join() === seen.join()) return mark.token;
    throw new NonRetryableError(
      `"${name}" was recorded when ${mark.seen.join()} was seen, and now it is ${seen.join()}`,
    );
  }

  async #fail(name: string, work: MarkedWork): Promise<void> {
    try {
      await this.#do(name, work, quickRetries(hopelessRetries));
    } catch (error) {
      if (error instanceof Error && error.message === planned) return;
      throw error;
    }
    throw new NonRetryableError(`"${name}" succeeded, and it never does`);
  }

  /** What later bodies see: that it was done, or that it was cut off. */
  async #once(name: string, work: MarkedWork): Promise<string> {
    try {
      return await this.#do(name, work, { ifInterrupted: "fail", retries: false });
    } catch (error) {
      if ((error as { readonly code?: string }).code === "STEP_INTERRUPTED") return failedToken(name);
      throw error;
    }
  }

  #wait(
    name: string,
    what: { readonly type: string } | { readonly topic: string },
  ): Promise<ReceivedEvent<{ readonly number: number }>> {
    return this.#step.waitForEvent(name, { ...what, timeout: `${waitMinutes} minutes` });
  }

  async #nested(name: string, ms: number, seen: readonly string[]): Promise<string> {
    const step = this.#step;
    const mark = await step.do(name, (context) => {
      const then = async (): Promise<void> => {
        const first = await this.#do("first", { seen, ms });
        await this.#do("second", { seen: [...seen, first], ms });
      };
      return runMarked(context, this.#ledger, { seen, ms: 1, then });
    });
    return this.#sameAs(mark, name, seen);
  }

  async #errand(name: string, ms: number, seen: readonly string[]): Promise<string> {
    const journey = this.#id;
    const mark = await this.#step.do(name, (context) => {
      const then = (token: string): void => {
        context.startWorkflow("errand", { id: errandId(journey, token), params: { ms, journey } });
      };
      return runMarked(context, this.#ledger, { seen, ms: 1, then });
    });
    const token = this.#sameAs(mark, name, seen);
    const done = await this.#step.waitForEvent<{ readonly ms: number }>(`${name} done`, {
      type: errandDone(errandId(journey, token)),
      timeout: `${waitMinutes} minutes`,
    });
    if (done.payload.ms !== ms) throw new NonRetryableError(`"${name}" heard of another errand`);
    return token;
  }
}
