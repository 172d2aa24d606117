import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { instanceNotFound } from "../engine/instance-words.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRecord, InstanceRef, RunId } from "../model/instance.ts";
import type { StepRecord } from "../model/step.ts";
import type { ValueTerms } from "../store/store.ts";
import type { StepView } from "../wire/index.ts";
import type { AppParts } from "./app-parts.ts";
import { readAll } from "./paging.ts";
import { type MayShow, stepView } from "./views.ts";

/** One instance as the store has it, for those who read it and those who steer it. */
export class StoredInstance {
  readonly ref: InstanceRef;
  readonly definition: WorkflowDefinition;
  readonly parts: AppParts;

  constructor(ref: InstanceRef, definition: WorkflowDefinition, parts: AppParts) {
    this.ref = ref;
    this.definition = definition;
    this.parts = parts;
  }

  /** Of its current run unless another is named. */
  async read(runNumber?: number): Promise<InstanceRecord> {
    await this.parts.ready();
    const isPossible = runNumber === undefined || Number.isSafeInteger(runNumber);
    const record = isPossible ? await this.parts.reads.getInstance(this.ref, runNumber) : undefined;
    if (record) return record;
    if (runNumber === undefined) throw instanceNotFound(this.ref);
    await this.read();
    throw new EverstepError(
      "RUN_NOT_FOUND",
      `Instance "${this.ref.instanceId}" has no run number ${String(runNumber)}.`,
    );
  }

  steps(runId: RunId, terms: ValueTerms = {}): Promise<StepRecord[]> {
    return readAll((query) => this.parts.reads.listSteps(runId, { ...query, ...terms }), 500);
  }

  async step(runId: RunId, index: number): Promise<StepView | undefined> {
    const query = { limit: 1, after: String(index - 1) };
    const [found] = (await this.parts.reads.listSteps(runId, query)).items;
    return found?.index === index ? stepView(found, this.mayShow) : undefined;
  }

  /** A hook that fails allows nothing. */
  readonly mayShow: MayShow = ({ key: stepKey }) => {
    try {
      return this.parts.showSensitive({ ...this.ref, stepKey }) === true;
    } catch (problem) {
      this.parts.onProblem(problem);
      return false;
    }
  };
}
