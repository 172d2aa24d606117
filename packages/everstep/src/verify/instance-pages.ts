/**
 * All instances, page by page, newest first, so that those created meanwhile do not prolong it. A row that cannot be read
 * spoils its page: pages shrink until only that row is left, and since no list goes past it, the rest is read from the
 * other end.
 */
import type { InstanceRecord } from "../model/instance.ts";
import type { InstanceQuery } from "../store/store.ts";
import { damageText, isDamage, type VerifyReads } from "./look.ts";
import type { Unreadable } from "./verify-report.ts";

export type InstanceFilter = Pick<InstanceQuery, "workflowName" | "statuses">;

export class InstancePages {
  readonly #reads: VerifyReads;
  readonly #filter: InstanceFilter;
  readonly #unreadable = new Map<string, Unreadable>();
  #order: "desc" | "asc" = "desc";
  #after: string | undefined;
  #isOver = false;

  /** `from` is what `place` said before. */
  constructor(reads: VerifyReads, filter: InstanceFilter, from?: string) {
    this.#reads = reads;
    this.#filter = filter;
    if (from === undefined) return;
    this.#order = from.startsWith("asc") ? "asc" : "desc";
    this.#after = from.slice(from.indexOf(" ") + 1) || undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Where the next page begins. */
  get place(): string {
    return `${this.#order} ${this.#after ?? ""}`;
  }

  get unreadable(): readonly Unreadable[] {
    return [...this.#unreadable.values()];
  }

  /** At most `limit` more; none when all that can be read has been. */
  async next(limit: number): Promise<readonly InstanceRecord[]> {
    let size = limit;
    while (!this.#isOver) {
      try {
        const page = await this.#reads.listInstances({
          ...this.#filter,
          limit: size,
          order: this.#order,
          ...(this.#after === undefined ? {} : { after: this.#after }),
        });
        this.#after = page.after;
        this.#isOver = page.after === undefined;
        if (page.items.length > 0) return page.items;
      } catch (problem) {
        if (!isDamage(problem)) throw problem;
        if (size > 1) size = Math.ceil(size / 2);
        else this.#turnBack(damageText(problem));
      }
    }
    return [];
  }

  #turnBack(message: string): void {
    // From the other end it may well be the same row again.
    const hole = {
      workflowName: this.#filter.workflowName ?? null,
      instanceId: null,
      runNumber: null,
      message,
    };
    this.#unreadable.set(message, hole);
    if (this.#order === "asc") this.#isOver = true;
    this.#order = "asc";
    this.#after = undefined;
  }
}
