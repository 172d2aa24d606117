import { classifications, isHarmless, type ReplayClassification } from "./classification.ts";
import type { ReplayFinding } from "./finding.ts";

export interface CheckProgress {
  /** Instances that were looked at. */
  readonly checked: number;
  readonly counts: Readonly<Record<ReplayClassification, number>>;
}

/** What becomes of a store's unfinished instances under some code. */
export interface CheckReport extends CheckProgress {
  /** All but those for which nothing changes, as far as that can be checked. */
  readonly findings: readonly ReplayFinding[];
  /** Every unfinished instance was looked at; otherwise go on with `after`. */
  readonly complete: boolean;
  readonly after?: string;
  /** Every instance that was looked at stands where it stood or goes on. */
  readonly ok: boolean;
  /** All of this in one line. */
  readonly summary: string;
}

export class ReportBuilder {
  readonly #counts = new Map<ReplayClassification, number>();
  readonly #findings: ReplayFinding[] = [];
  /** Where the last page ended. */
  after: string | undefined;
  isComplete = false;

  constructor(after: string | undefined) {
    this.after = after;
  }

  add(finding: ReplayFinding): void {
    const { classification, uncheckedSteps } = finding;
    this.#counts.set(classification, (this.#counts.get(classification) ?? 0) + 1);
    if (classification !== "identical" || uncheckedSteps.length > 0) this.#findings.push(finding);
  }

  pageIsDone(after: string | undefined): void {
    this.after = after;
    this.isComplete = after === undefined;
  }

  get progress(): CheckProgress {
    const counts = Object.fromEntries(
      classifications.map((classification) => [classification, this.#counts.get(classification) ?? 0]),
    ) as Record<ReplayClassification, number>;
    return { checked: Object.values(counts).reduce((sum, count) => sum + count, 0), counts };
  }

  build(): CheckReport {
    const { checked, counts } = this.progress;
    const ok = classifications.every((each) => counts[each] === 0 || isHarmless(each));
    const { after, isComplete: complete } = this;
    return {
      checked,
      counts,
      findings: [...this.#findings],
      complete,
      ...(after === undefined ? {} : { after }),
      ok,
      summary: summaryOf(checked, counts, ok, complete),
    };
  }
}

function summaryOf(
  checked: number,
  counts: Readonly<Record<ReplayClassification, number>>,
  ok: boolean,
  complete: boolean,
): string {
  const found = classifications.filter((each) => counts[each] > 0).map((each) => `${counts[each]} ${each}`);
  const instances = checked === 1 ? "1 instance" : `${checked} instances`;
  const what = found.length === 0 ? `${instances} checked.` : `${instances} checked: ${found.join(", ")}.`;
  const advice = ok
    ? "Nothing stands against this code."
    : "Look at the findings before this code is deployed.";
  return complete ? `${what} ${advice}` : `${what} ${advice} There are more instances: go on with after.`;
}
