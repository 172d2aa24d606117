/** Which step people mean, and what a run that begins at it keeps. */
import { EverstepError } from "../model/error.ts";
import { nearest } from "../model/nearest.ts";
import type { StepRecord, StepSelector, StepType, WaitingStep } from "../model/step.ts";

/**
 * What a run that begins at `from` keeps: settled steps with a smaller index, without those whose outermost ancestor is
 * not kept. A nested `from` means its outermost ancestor.
 */
export function historyBefore(steps: readonly StepRecord[], from: StepSelector): readonly StepRecord[] {
  const first = outermost(steps, findStep(steps, from));
  const isEarly = (step: StepRecord): boolean => outermost(steps, step).index < first.index;
  return steps.filter((step) => isEarly(step) && isWhollySettled(steps, step));
}

/** It and everything it is inside of. An index says nothing: one that was cut off before its record has a later one. */
function isWhollySettled(steps: readonly StepRecord[], step: StepRecord): boolean {
  if (step.status === "waiting") return false;
  if (step.parentKey === null) return true;
  const parent = steps.find(({ key }) => key === step.parentKey);
  return parent !== undefined && isWhollySettled(steps, parent);
}

/** The step with exactly this key, else the first of that name at the top level, else a nested one if it is clear which. */
export function findStep(steps: readonly StepRecord[], selector: StepSelector): StepRecord {
  const wanted = typeof selector === "string" ? { name: selector } : selector;
  const { name, count, type } = wanted as { name: string; count?: number; type?: StepType };
  const fits = (step: StepRecord): boolean =>
    (count === undefined || step.count === count) && (type === undefined || step.type === type);
  const candidates = steps.filter(fits).sort((a, b) => a.index - b.index);
  const named = candidates.filter((step) => step.name === name);
  const found =
    candidates.find((step) => step.key === name) ??
    named.find((step) => step.parentKey === null) ??
    clearlyMeant(steps, named, name);
  if (found) return found;
  throw new EverstepError(
    "STEP_NOT_FOUND",
    `This run has no step "${name}"${count === undefined ? "" : ` #${count}`}. ${meantStep(name, steps)}`,
    { details: { step: name } },
  );
}

const namesCompared = 200;

function meantStep(name: string, steps: readonly StepRecord[]): string {
  // A run may have thousands, and who mistypes a name means one of the first.
  const names = [...new Set(steps.map((step) => step.name))].slice(0, namesCompared);
  const meant = nearest(name, names);
  return meant === undefined || meant === name ? "Use a name from its history." : `Did you mean "${meant}"?`;
}

/** How many keys a sentence names at most. */
const keysNamed = 5;

function clearlyMeant(
  steps: readonly StepRecord[],
  nested: readonly StepRecord[],
  name: string,
): StepRecord | undefined {
  const places = new Set(nested.map((step) => outermost(steps, step).key));
  if (places.size <= 1) return nested[0];
  const keys = nested.slice(0, keysNamed).map(({ key }) => `"${key}"`);
  const more = nested.length > keysNamed ? ", ..." : "";
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `This run has steps "${name}" inside of different steps. Say which one by its key: ${keys.join(", ")}${more}.`,
    { details: { step: name } },
  );
}

function outermost(steps: readonly StepRecord[], step: StepRecord): StepRecord {
  let current = step;
  while (current.parentKey !== null) {
    const parentKey: string = current.parentKey;
    const parent = steps.find((other) => other.key === parentKey);
    if (!parent) return current;
    current = parent;
  }
  return current;
}

/** The sleep a run is in, the nearest one if there are several. */
export function activeSleep(steps: readonly StepRecord[]): WaitingStep | undefined {
  return steps
    .filter((step): step is WaitingStep => step.status === "waiting" && step.type === "sleep")
    .sort((a, b) => a.wakeAt - b.wakeAt)[0];
}
