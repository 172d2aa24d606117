import type { InstanceRecord } from "../model/instance.ts";
import type { Standstill } from "./liveness.ts";
import { summaryOf, type Unreadable, type VerifyReport, type VerifyWarning } from "./verify-report.ts";
import type { Violation } from "./violation.ts";

/** Violations of one run that are listed; more of them say little more. */
const perRunMax = 10;
/** Warnings of one kind that are listed: where no runner is up, every run has one. */
const perKindMax = 100;
/** With so many violations the rest is left to the next call. */
const enough = 1000;

/** What an audit has found so far. */
export class Tally {
  readonly #doubts: boolean;
  readonly #violations: Violation[] = [];
  readonly #warnings: VerifyWarning[] = [];
  readonly #unreadable: Unreadable[] = [];
  readonly #warned = new Map<string, number>();
  #warningsLeftOut = 0;
  #checked = 0;
  #moving = 0;

  constructor(doubts: boolean) {
    this.#doubts = doubts;
  }

  get checked(): number {
    return this.#checked;
  }

  get violations(): number {
    return this.#violations.length;
  }

  /** Something of this run was told already. */
  knows({ workflowName, instanceId, runNumber }: InstanceRecord): boolean {
    return this.#violations.some(
      (told) =>
        told.workflowName === workflowName && told.instanceId === instanceId && told.runNumber === runNumber,
    );
  }

  get isEnough(): boolean {
    return this.#violations.length + this.#unreadable.length >= enough;
  }

  /** Those that are worth a second look. */
  wanted(found: readonly Violation[]): readonly Violation[] {
    return this.#doubts ? found : found.filter(({ unless }) => unless === undefined);
  }

  judged(record: InstanceRecord, found: readonly Violation[], standstills: Iterable<Standstill>): void {
    this.#checked++;
    const { workflowName, instanceId, runNumber } = record;
    for (const violation of found.slice(0, perRunMax)) {
      const { unless, invariant, message } = violation;
      if (unless === undefined) this.#violations.push(violation);
      else
        this.#warn({
          kind: "doubtful",
          promise: invariant,
          message,
          workflowName,
          instanceId,
          runNumber,
          unless,
        });
    }
    for (const standstill of standstills) this.#warn({ ...standstill, workflowName, instanceId, runNumber });
  }

  lost({ workflowName, instanceId }: InstanceRecord, runNumber: number): void {
    const message = "The run is gone, though runs are kept as long as their instance.";
    this.#violations.push({ invariant: "INV-33", message, workflowName, instanceId, runNumber });
  }

  unreadable(row: Unreadable): void {
    this.#unreadable.push(row);
  }

  moving(count: number): void {
    this.#moving += count;
  }

  /** `after` says where to go on, if there is more. */
  report(after: string | undefined): VerifyReport {
    const report = {
      ok: this.#violations.length + this.#unreadable.length === 0,
      checked: this.#checked,
      violations: this.#violations,
      warnings: this.#warnings,
      warningsLeftOut: this.#warningsLeftOut,
      moving: this.#moving,
      unreadable: this.#unreadable,
      ...(after === undefined ? {} : { after }),
      complete: after === undefined,
    };
    return { ...report, summary: summaryOf(report) };
  }

  #warn(warning: VerifyWarning): void {
    const count = (this.#warned.get(warning.kind) ?? 0) + 1;
    this.#warned.set(warning.kind, count);
    if (count <= perKindMax) this.#warnings.push(warning);
    else this.#warningsLeftOut++;
  }
}
