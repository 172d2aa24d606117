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
  for (let before = -1; before !== choicesLeft(best) && tries < triesMax && !isOver(); ) {
    before = choicesLeft(best);
    for (const label of Object.keys(best)) await shrinkLabel(label, () => best, attempt);
  }
  return best;
}

/** Choices that are not the simplest. */
export function choicesLeft(tape: Tape): number {
  return Object.values(tape).reduce((sum, drawn) => sum + drawn.filter((value) => value !== 0).length, 0);
}

async function shrinkLabel(
  label: string,
  current: () => Tape,
  attempt: (tape: Tape) => Promise<boolean>,
): Promise<void> {
  const drawn = (): readonly number[] => current()[label] ?? [];
  if (drawn().length > 0 && (await attempt({ ...current(), [label]: [] }))) return;
  // Ever shorter spans, from the back: what came late is needed least.
  for (let span = Math.ceil(drawn().length / 2); span >= 1; span = Math.floor(span / 2)) {
    for (let from = drawn().length - span; from > -span; from -= span) {
      const start = Math.max(0, from);
      const zeroed = drawn().map((value, at) => (at >= start && at < from + span ? 0 : value));
      if (zeroed.some((value, at) => value !== drawn()[at])) await attempt({ ...current(), [label]: zeroed });
    }
  }
  for (const at of drawn().keys()) {
    for (let value = Math.floor((drawn()[at] ?? 0) / 2); value > 0; value = Math.floor(value / 2)) {
      if (await attempt({ ...current(), [label]: drawn().with(at, value) })) continue;
      break;
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
