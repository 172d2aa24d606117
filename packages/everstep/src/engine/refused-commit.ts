/**
 * A commit that the store will never take, because of what is in it: too large, malformed, or refused for another reason
 * that no repetition changes. The bodies have run, so they are not run again: what they returned gives way, and their steps
 * fail with the store's reason.
 */
import { toStoredError } from "../authoring/stored-error.ts";
import type { Next } from "../model/boundary.ts";
import { EverstepError, StoreError } from "../model/error.ts";
import { errorLimits } from "../model/limits.ts";
import type { CompletedStep, ErroredStep, StepRecord } from "../model/step.ts";
import type { EncodedValue } from "../model/value.ts";
import type { DraftContent } from "./draft.ts";
import { none } from "./short-list.ts";

/** What was sent to be committed. */
export interface Sent {
  readonly content: DraftContent;
  readonly next: Next;
  /** The last write that is part of it. */
  readonly upTo: number;
  /** What is tried instead if the store refuses it for good. */
  readonly instead?: Iterator<Lesser, undefined>;
}

/** A commit in place of one that was refused. */
export interface Lesser {
  readonly content: DraftContent;
  /** Steps whose results gave way, as they are now. */
  readonly failed: readonly ErroredStep[];
  /** Given where the run itself ends with the reason. */
  readonly end: Extract<Next, { kind: "error" }> | null;
}

/** The store's reason, where it will be the same however often it is asked; null where it may take the commit yet. */
export function refusalOf(error: unknown): StoreError | null {
  const isRefusal = error instanceof StoreError && !error.retryable && error.code !== "STORE_CLOSED";
  return isRefusal ? error : null;
}

/**
 * What to commit instead, one after the other until the store takes one: what the function returned gives way, or the
 * largest results where size is the reason, then all of them, then the log lines; and if nothing helps, everything.
 */
export function* lesserCommits(
  { content, next }: Sent,
  refusal: StoreError,
  now: number,
): Generator<Lesser, undefined> {
  const end = { kind: "error", error: toStoredError(runRefused(refusal)), deadLetter: false } as const;
  const blamed = content.steps
    .filter(hasResult)
    .toSorted(({ result: a }, { result: b }) => sizeOf(b) - sizeOf(a));
  const largest = blamed[0] === undefined ? 0 : sizeOf(blamed[0].result);
  const mayBeOutput =
    refusal.failure !== "too-large" || (next.kind === "complete" && sizeOf(next.output) >= largest);
  if (next.kind === "complete" && mayBeOutput) yield { content, failed: none, end };
  // What goes alongside is not known by its step: it can only give way with all of them.
  const isOneToBlame = refusal.failure === "too-large" && content.alongside.length === 0;
  const failed: ErroredStep[] = [];
  for (const step of blamed) {
    failed.push(failedFor(step, refusal, now));
    if (isOneToBlame || failed.length === blamed.length) yield { ...without(content, failed), end: null };
  }
  const bare = without({ ...content, logs: none }, failed);
  if (content.logs.length > 0) yield { ...bare, end: null };
  yield { content: nothing, failed: none, end };
  return undefined;
}

const nothing: DraftContent = {
  steps: none,
  timeouts: none,
  timeoutsSaw: Number.POSITIVE_INFINITY,
  consumed: none,
  logs: none,
  alongside: none,
  mutations: null,
  mutated: null,
};

function without(content: DraftContent, given: readonly ErroredStep[]): Omit<Lesser, "end"> {
  const failed = [...given];
  const instead = new Map<number, StepRecord>(failed.map((step) => [step.index, step]));
  const keys = new Set(failed.map(({ key }) => key));
  return {
    content: {
      ...content,
      steps: content.steps.map((step) => instead.get(step.index) ?? step),
      consumed: content.consumed.filter(({ stepKey }) => !keys.has(stepKey)),
      alongside: failed.length === 0 ? content.alongside : none,
      mutations: content.mutated !== null && instead.has(content.mutated) ? null : content.mutations,
    },
    failed,
  };
}

/**
 * Of what a turn would commit, that which still holds when its function went on with the void result of the step at this
 * index: what bodies came to, and what was asked for before it. The next turn comes to everything else, or does not.
 */
export function sound(content: DraftContent, voidIndex: number): DraftContent {
  const isSound = ({ index, type, parentKey, starts }: StepRecord): boolean =>
    index <= voidIndex || parentKey !== null || (type === "do" && starts > 0);
  const dropped = new Set(content.steps.filter((step) => !isSound(step)).map(({ key }) => key));
  return {
    ...content,
    steps: content.steps.filter(isSound),
    timeouts: content.timeouts.filter(({ settled }) => isSound(settled)),
    consumed: content.consumed.filter(({ stepKey }) => !dropped.has(stepKey)),
  };
}

function hasResult(step: StepRecord): step is CompletedStep {
  return step.status === "completed" && step.type !== "sleep";
}

function sizeOf({ json, marks }: EncodedValue): number {
  return json.length + (marks?.length ?? 0);
}

function failedFor(step: CompletedStep, refusal: StoreError, now: number): ErroredStep {
  const { result: _refused, ...facts } = step;
  const error = toStoredError(resultRefused(step.name, refusal));
  // A wait has no attempts that could have failed.
  if (step.type !== "do") return { ...facts, status: "errored", error };
  const errors = [...step.errors, { attempt: step.starts, at: now, error }].slice(-errorLimits.attemptsKept);
  return { ...facts, status: "errored", error, errors };
}

function resultRefused(stepName: string, refusal: StoreError): Error {
  return new EverstepError(
    refusal.code,
    `The store refused for good what step "${stepName}" returned, so the step failed although its body was through; it is ` +
      `not run again. ${refusal.message}`,
    { cause: refusal },
  );
}

function runRefused(refusal: StoreError): Error {
  return new EverstepError(
    refusal.code,
    `The store refused for good what this run came to, so the run ended with an error. ${refusal.message}`,
    { cause: refusal },
  );
}
