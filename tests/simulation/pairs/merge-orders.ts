/** Every way through a sequence of choices whose number is only known when one comes to them. */

/** Which of so many, the first is 0. */
export type Choose = (count: number) => number;

/**
 * Runs again and again, each time with other choices, until all were made: the last choice changes first. Ends early
 * when `run` gives false. Says how many ways there were.
 */
export async function everyWay(
  run: (choose: Choose, chosen: () => readonly number[]) => Promise<boolean>,
  waysMax = 10_000,
): Promise<number> {
  let next: number[] | null = [];
  for (let ways = 1; next !== null; ways++) {
    if (ways > waysMax) throw new Error(`There are more than ${waysMax} ways.`);
    const given: readonly number[] = next;
    const taken: number[] = [];
    const counts: number[] = [];
    const choose: Choose = (count) => {
      const choice = given[taken.length] ?? 0;
      taken.push(choice);
      counts.push(count);
      return choice;
    };
    if (!(await run(choose, () => taken))) return ways;
    next = after(taken, counts);
    if (next === null) return ways;
  }
  return 0;
}

function after(taken: readonly number[], counts: readonly number[]): number[] | null {
  const last = taken.findLastIndex((choice, at) => choice + 1 < (counts[at] ?? 0));
  return last < 0 ? null : [...taken.slice(0, last), (taken[last] ?? 0) + 1];
}
