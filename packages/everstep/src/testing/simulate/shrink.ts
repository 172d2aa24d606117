/** Makes a failing world small: fewer faults, shorter programs, simpler choices, as long as the same promise breaks. */
import type { Tape } from "./choices.ts";

export interface ShrinkOptions {
  /** Worlds to try at most. */
  readonly triesMax?: number;
  /** There is no more time: what was found so far is the answer. */
  readonly isOver?: () => boolean;
  readonly onProgress?: (tries: number, left: number) => void;
}

/** `isSame`: the world of this tape breaks the same promise. Gives the smallest tape it found. */
export async function shrink(
  tape: Tape,
  isSame: (tape: Tape) => Promise<boolean>,
  { triesMax = 2000, isOver = () => false, onProgress }: ShrinkOptions = {},
): Promise<Tape> {
  let best = trimmed(tape);
  let tries = 0;
  const attempt = async (candidate: Tape): Promise<boolean> => {
    if (tries >= triesMax || isOver()) return false;
    tries++;
    const smaller = trimmed(candidate);
    if (!(await isSame(smaller))) return false;
    best = smaller;
    onProgress?.(tries, choicesLeft(best));
    return true;
  };
  const labels = (): readonly string[] => Object.keys(best);
  const isDone = (): boolean => tries >= triesMax || isOver();
  for (let before = -1; before !== choicesLeft(best) && !isDone(); ) {
    before = choicesLeft(best);
    // All labels coarsely before any of them finely: what goes as a whole need not be picked apart.
    for (const parts of portions) for (const label of labels()) await drop(label, parts, () => best, attempt);
    for (const label of labels()) await lower(label, () => best, attempt);
  }
  return best;
}

/** Choices that are not the simplest. */
export function choicesLeft(tape: Tape): number {
  return Object.values(tape).reduce((sum, drawn) => sum + drawn.filter((value) => value !== 0).length, 0);
}

/** Into how many parts the draws of a label are cut to try without each of them; the last means one by one. */
const portions: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 100_000];

/** Makes parts of a label's draws the simplest, from the back: what came late is needed least. */
async function drop(
  label: string,
  parts: number,
  current: () => Tape,
  attempt: (tape: Tape) => Promise<boolean>,
): Promise<void> {
  const drawn = (): readonly number[] => current()[label] ?? [];
  const span = Math.ceil(drawn().length / parts);
  if (span === 0 || (parts > 1 && drawn().length < parts && parts !== portions.at(-1))) return;
  for (let to = drawn().length; to > 0; to -= span) {
    const zeroed = drawn().map((value, at) => (at >= to - span && at < to ? 0 : value));
    if (zeroed.some((value, at) => value !== drawn()[at])) await attempt({ ...current(), [label]: zeroed });
  }
}

/** Halves what is left. */
async function lower(
  label: string,
  current: () => Tape,
  attempt: (tape: Tape) => Promise<boolean>,
): Promise<void> {
  const drawn = (): readonly number[] => current()[label] ?? [];
  for (const at of drawn().keys()) {
    let value = drawn()[at] ?? 0;
    while (value > 1) {
      value = Math.floor(value / 2);
      if (!(await attempt({ ...current(), [label]: drawn().with(at, value) }))) break;
    }
  }
}

/** What is not said is 0, so zeroes at the end need not be said. */
function trimmed(tape: Tape): Tape {
  const entries = Object.entries(tape).map(([label, drawn]) => {
    const last = drawn.findLastIndex((value) => value !== 0);
    return [label, drawn.slice(0, last + 1)] as const;
  });
  return Object.fromEntries(entries.filter(([, drawn]) => drawn.length > 0));
}
