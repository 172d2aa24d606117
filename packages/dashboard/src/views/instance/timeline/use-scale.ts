import { useMemo, useRef } from "react";
import { horizonOf, lastShown } from "./horizon.ts";
import { workOf } from "./phases.ts";
import type { RunRows } from "./rows.ts";
import { breaksIn, isDwarfed, makeScale, type Scale } from "./scale.ts";
import type { ScaleChoice } from "./scale-choice.ts";

export interface ChosenScale {
  readonly scale: Scale;
  /** Until then it holds. */
  readonly edge: number;
  readonly isCompressed: boolean;
  /** There are waits that could be cut short. */
  readonly canCompress: boolean;
}

/**
 * To scale or with long waits cut short, as asked; unasked, what shows more when it is opened. It does not change by itself
 * after that: a drawing that is another all of a sudden is not understood.
 */
export function useScale(run: RunRows, now: number, asked: ScaleChoice | null): ChosenScale {
  const first = useRef<boolean | null>(null);
  const edge = run.endedAt ?? horizonOf(run.origin, now);
  return useMemo(() => {
    const whole = { from: run.origin, to: lastShown(run, edge, true) };
    const breaks = breaksIn(whole, workOf(run.rows, edge), edgesOf(run));
    first.current ??= isDwarfed(whole, breaks);
    const isWanted = asked === null ? first.current : asked === "compressed";
    const isCompressed = isWanted && breaks.length > 0;
    const scale = isCompressed
      ? makeScale(whole, breaks)
      : makeScale({ from: run.origin, to: lastShown(run, edge, false) });
    return {
      scale,
      edge: run.endedAt === null ? edge : Number.POSITIVE_INFINITY,
      isCompressed,
      canCompress: breaks.length > 0,
    };
  }, [run, edge, asked]);
}

function edgesOf({ rows, beganAt, startedAt }: RunRows): readonly number[] {
  const times = rows.flatMap(({ segments }) =>
    segments.flatMap(({ from, to, due }) => [from, to ?? due ?? from]),
  );
  return [beganAt, startedAt ?? beganAt, ...times];
}
