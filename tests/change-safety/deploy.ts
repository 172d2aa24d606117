import { defineWorkflow, type HistoryDocument, type WorkflowEvent, type WorkflowStep } from "everstep";
import type { TestHarness } from "everstep/testing";
import type { Tell } from "../scenarios/each-store.ts";

export type Code = (step: WorkflowStep, event: WorkflowEvent) => unknown;

/** A store with instances of one workflow whose code changes under them, as a deploy changes it. */
export class Site {
  readonly story: TestHarness;
  #code: Code;

  constructor(tell: Tell, code: Code) {
    this.#code = code;
    const workflow = defineWorkflow({ name: "w", limits: { stallTimeout: 60_000 } }, (event, step) =>
      this.#code(step, event),
    );
    this.story = tell({ W: workflow });
  }

  async create(id: string): Promise<void> {
    await this.#workflow.create({ id });
  }

  /** Instances of the code as it is, as far as they come without time passing. */
  async begin(...ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.create(id);
    await this.story.runUntilIdle();
  }

  async export(id: string): Promise<HistoryDocument> {
    return (await this.#workflow.get(id)).exportHistory();
  }

  /** What the check says of other code. */
  check(code: Code) {
    return this.story.app.check({ workflows: { W: build(code) }, patience: "1 second" });
  }

  /** Processes that knew the old code are gone; from now on there is only the new one. */
  async deploy(code: Code): Promise<void> {
    this.#code = code;
    await this.story.restartRunner();
  }

  /** Everything that wakes an instance of these tests. */
  async wakeAll(...ids: readonly string[]): Promise<void> {
    await this.story.advance("2 hours");
    for (const id of ids) {
      const { status } = await this.story.status(id);
      if (status === "waiting" || status === "active")
        await this.story.sendEvent(id, { type: "paid", payload: 1 });
    }
    await this.story.advance("2 hours");
  }

  get #workflow() {
    const { W } = this.story.workflows;
    if (!W) throw new Error("There is no workflow W.");
    return W;
  }
}

export function build(code: Code) {
  return defineWorkflow({ name: "w", limits: { stallTimeout: 60_000 } }, (event, step) => code(step, event));
}
