/**
 * A world that can be made again: its seed and, once it was made smaller, what is left of its choices. As a tape (plain
 * JSON, to be kept with the tests) and as a code short enough for a command line: `17` or `17?body+%22charge%22=1`.
 */
import { EverstepError } from "../../../model/error.ts";
import type { Tape } from "../choices.ts";

export interface SimulationTape {
  readonly version: 1;
  readonly seed: number | string;
  /** What was drawn, by label, in order; null where the seed decides. What a tape does not say is 0, the simplest. */
  readonly choices: Tape | null;
}

export function replayCode({ seed, choices }: SimulationTape): string {
  if (choices === null) return String(seed);
  const entries = Object.entries(choices).map(([label, drawn]) => [label, drawn.join(".")]);
  return `${seed}?${new URLSearchParams(entries as [string, string][])}`;
}

export function readReplay(given: unknown): SimulationTape {
  if (typeof given === "number" || typeof given === "string") return fromCode(String(given));
  const { version, seed, choices } = (given ?? {}) as Partial<SimulationTape>;
  const isTape =
    version === 1 && (typeof seed === "number" || typeof seed === "string") && areChoices(choices);
  if (isTape) return { version, seed, choices };
  throw unreadable("It is not a tape of this version of simulate.");
}

function fromCode(code: string): SimulationTape {
  const [seed = "", ...rest] = code.trim().split("?");
  if (seed === "") throw unreadable("It has no seed.");
  if (rest.length === 0) return { version: 1, seed: numberOr(seed), choices: null };
  const choices: Record<string, number[]> = {};
  for (const [label, drawn] of new URLSearchParams(rest.join("?"))) {
    const values = drawn.split(".").map(Number);
    if (values.some((value) => !Number.isInteger(value) || value < 0))
      throw unreadable(`What it says of "${label}" are not numbers.`);
    choices[label] = values;
  }
  return { version: 1, seed: numberOr(seed), choices };
}

function numberOr(seed: string): number | string {
  return /^\d+$/.test(seed) ? Number(seed) : seed;
}

function areChoices(choices: unknown): choices is Tape | null {
  if (choices === null) return true;
  if (typeof choices !== "object" || choices === undefined) return false;
  return Object.values(choices).every(
    (drawn) => Array.isArray(drawn) && drawn.every((value) => Number.isInteger(value)),
  );
}

function unreadable(why: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `replay cannot be read. ${why} Pass a seed, the code that a failure prints, or its tape (report.failures[0].tape).`,
  );
}
