import { parseDuration } from "../authoring/duration.ts";
import type {
  BriefOptions,
  InstanceDetails,
  InstanceResult,
  InstanceSnapshot,
  InstanceStatusView,
  InstanceView,
  LogsOptions,
  WhyView,
} from "../handles/index.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { type ExportHistoryOptions, exportHistory } from "../verify/replay/export-history.ts";
import type { HistoryDocument } from "../verify/replay/history-document.ts";
import type { HistoryPage, LogLineView, StepView } from "../wire/index.ts";
import { historyPageNames, logsNames, resultNames, runNames } from "../wire/option-names.ts";
import type { HistoryPageOptions, ResultOptions, RunOptions } from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import { askWhy } from "./ask-why.ts";
import { awaitEnd, type Creation } from "./await-end.ts";
import { historyPage, logsPage, logsQuery, withLogs } from "./run-pages.ts";
import type { StoredInstance } from "./stored-instance.ts";
import {
  currentStep,
  instanceDetails,
  instanceView,
  runningBodies,
  statusView,
  stepView,
  withoutResultIf,
  withoutValues,
} from "./views.ts";

const briefNames = { brief: true } as const;
const exportNames: NamesOf<ExportHistoryOptions> = {
  runNumber: true,
  redact: true,
  logs: true,
  maxBytes: true,
};

/** What one can ask an instance. Every method asks the store; the handle knows at most that it was just created. */
export class InstanceReading<Output = any> {
  readonly id: string;
  readonly workflowName: string;
  readonly #instance: StoredInstance;
  readonly #creation: Creation | null;

  constructor(instance: StoredInstance, creation: Creation | null = null) {
    this.id = instance.ref.instanceId;
    this.workflowName = instance.ref.workflowName;
    this.#instance = instance;
    this.#creation = creation;
  }

  async status(): Promise<InstanceStatusView<Output>> {
    return statusView(await this.#instance.read());
  }

  async details(): Promise<InstanceDetails<Output>> {
    const { steps: _, running: __, ...details } = await this.snapshot({ brief: true });
    return details;
  }

  async snapshot(options: BriefOptions = {}): Promise<InstanceSnapshot<Output>> {
    checkNames(options, briefNames, "snapshot");
    const { brief = false } = options;
    const { parts, mayShow } = this.#instance;
    const record = await this.#instance.read();
    const steps = await this.#instance.steps(record.runId, { brief });
    const begun = parts.runner.begunOf(record.runId) ?? record.begun;
    const current = currentStep({ ...record, begun }, steps, mayShow);
    const isCut = brief && current?.result !== undefined;
    const step = isCut ? ((await this.#instance.step(record.runId, current.index)) ?? current) : current;
    return {
      ...instanceDetails(record, parts.runtime.now()),
      ...(step ? { currentStep: step } : {}),
      steps: steps.map((each) => withoutResultIf(brief, stepView(each, mayShow))),
      running: record.executing ? runningBodies(begun, steps) : [],
    };
  }

  async result(options: ResultOptions = {}): Promise<InstanceResult<Output>> {
    checkNames(options, resultNames, "result");
    const timeoutMs =
      options.timeout === undefined ? null : parseDuration(options.timeout, "timeout of result");
    const { ref, parts } = this.#instance;
    await parts.ready();
    return awaitEnd(ref, timeoutMs, () => this.#instance.read(), parts, this.#creation);
  }

  async step(index: number, options: RunOptions = {}): Promise<StepView> {
    checkNames(options, runNames, "step");
    const record = await this.#instance.read(options.runNumber);
    const found = await this.#instance.step(record.runId, index);
    if (found) return found;
    throw new EverstepError(
      "STEP_NOT_FOUND",
      `Run ${record.runNumber} has recorded no step with the index ${index}.`,
    );
  }

  async history(options: HistoryPageOptions = {}): Promise<HistoryPage> {
    checkNames(options, historyPageNames, "history");
    const { definition, parts, mayShow } = this.#instance;
    const record = await this.#instance.read(options.runNumber);
    const history = await historyPage(record, options, definition.limits, parts, mayShow);
    return options.includeLogs ? withLogs(history, options, (lines) => this.logs(lines)) : history;
  }

  async logs(options: LogsOptions = {}): Promise<PageView<LogLineView>> {
    checkNames(options, logsNames, "logs");
    const { definition, parts } = this.#instance;
    const query = logsQuery(options, definition.limits);
    const record = await this.#instance.read(query.runNumber);
    return logsPage(record, query, definition.limits, parts);
  }

  async why(): Promise<WhyView> {
    return askWhy(this.#instance);
  }

  async exportHistory(options: ExportHistoryOptions = {}): Promise<HistoryDocument> {
    checkNames(options, exportNames, "exportHistory");
    const { parts, mayShow } = this.#instance;
    const { reads, runtime } = parts;
    const { runNumber } = await this.#instance.read(options.runNumber);
    const look = () => this.#instance.read(runNumber);
    return exportHistory({ reads, now: runtime.now(), mayShow, look }, options);
  }

  async runs(options: BriefOptions = {}): Promise<readonly InstanceView<Output>[]> {
    checkNames(options, briefNames, "runs");
    const { brief = false } = options;
    const { ref, definition, parts } = this.#instance;
    await this.#instance.read();
    const runs = await parts.reads.listRuns(ref, definition.limits.maxPageSize, { brief });
    const views = runs.map((run) => instanceView(run, parts.runtime.now()));
    return brief ? views.map(withoutValues) : views;
  }
}
