/** What came up, and how often: a simulation that never reached an interesting state has shown nothing about it. */
export class Sightings {
  readonly counts: Map<string, number> = new Map();

  saw(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  add(others: Iterable<readonly [string, number]>): void {
    for (const [what, count] of others) this.counts.set(what, (this.counts.get(what) ?? 0) + count);
  }
}
