/** Marks on the axis: at round times since the beginning, as many as there is room for. */
import { spokenDuration } from "../../../words/time.ts";
import type { Piece } from "./scale.ts";

export interface Tick {
  readonly time: number;
  /** Pixels. */
  readonly left: number;
  readonly text: string;
}

export interface TickTerms {
  readonly pieces: readonly Piece[];
  readonly origin: number;
  readonly width: number;
  /** Pixels of a place from 0 to 1. */
  leftOf(place: number): number;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 5, 10, 30, 100, 365].map((n) => n * day),
];

/** So far apart are ticks; and so much room the last one needs for its text. */
const room = 84;
const roomMin = 56;

export function ticksOf({ pieces, origin, width, leftOf }: TickTerms): readonly Tick[] {
  const ticks: Tick[] = [];
  let isAfterBreak = false;
  for (const [n, piece] of pieces.entries()) {
    const before = ticks.length;
    if (!piece.isBreak) ticksIn(piece, isAfterBreak ? piece.from : origin, isAfterBreak);
    isAfterBreak ||= piece.isBreak;
    const last = ticks.at(-1);
    const end = n < pieces.length - 1 ? Math.min(width, leftOf(piece.end)) : width;
    if (last && ticks.length > before && end - last.left < roomMin) ticks.pop();
  }
  return ticks;

  function ticksIn(piece: Piece, zero: number, isFromBreak: boolean): void {
    const left = leftOf(piece.begin);
    const perMs = (leftOf(piece.end) - left) / (piece.to - piece.from);
    const step = steps.find((each) => each * perMs >= room) ?? (steps.at(-1) as number);
    const seen = piece.from + Math.max(0, -left / perMs);
    const end = Math.min(piece.to, piece.from + (width - left) / perMs);
    for (let n = Math.ceil((seen - zero) / step); zero + n * step <= end; n++) {
      const time = zero + n * step;
      const at = left + (time - piece.from) * perMs;
      const last = ticks.at(-1);
      if (last && at - last.left < room) continue;
      // After a break time is counted from its end: days and milliseconds do not fit in one number.
      const text =
        isFromBreak && n === 0
          ? `+${spokenDuration(time - origin)}`
          : isFromBreak
            ? `… +${tickText(n * step, step)}`
            : tickText(n * step, step);
      ticks.push({ time, left: at, text });
    }
  }
}

/** No finer than the step between ticks. */
export function tickText(ms: number, step: number): string {
  if (ms === 0) return "0";
  if (ms < second) return `${ms} ms`;
  if (ms < minute) return `${trimmed(ms / second, step)} s`;
  const whole = Math.floor(ms / minute) * minute;
  if (ms < hour && step < minute && ms > whole) {
    return `${whole / minute} min ${trimmed((ms - whole) / second, step)} s`;
  }
  return spokenDuration(ms);
}

function trimmed(seconds: number, step: number): string {
  const digits = step >= second ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  return seconds.toFixed(digits);
}
