/** Performs a program as an author would have written it. What it saw is its output, in one line. */

import { NonRetryableError } from "../../../packages/everstep/src/authoring/errors.ts";
import type {
  StepContext,
  WorkflowEvent,
  WorkflowStep,
} from "../../../packages/everstep/src/authoring/workflow-step.ts";
import type { BodyStart, BodyWatch } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { Act, AgainAct, DoAct } from "./program.ts";

/** What bodies do outside of the engine. */
export interface Stage {
  /** A body began: from now on until it settles it is under way. */
  begin(body: BodyStart): BodyWatch;
  /** A body returns this: nobody else may ever hold it. */
  returned(result: Result): Result;
  /** The workflow was given this as the result of a step. */
  received(name: string, result: Result): void;
  /** Time in the process the body runs in. */
  pause(ms: number): Promise<void>;
}

export interface Performance {
  readonly event: WorkflowEvent;
  readonly step: WorkflowStep;
  readonly stage: Stage;
}

/** Names of steps say where in the program they stand; uses of one name stand at places that differ in `r0`, `r1`, ... */
export function stepNameOf(act: Act, path: string): string {
  return `${act.kind} ${path.replace(use, "r")}`;
}

/** Which use of its name a step is that stands there. */
export function countOf(path: string): number {
  return Number(use.exec(path)?.[1] ?? 0) + 1;
}

/** Where a step stands. */
export function placeOf({ name, count }: { readonly name: string; readonly count: number }): string {
  const path = name.slice(name.indexOf(" ") + 1);
  return path.replace(/\br\b/, `r${count - 1}`);
}

const use = /\br(\d+)\b/;

export function usePath(path: string, at: number): string {
  return `${path}.r${at}`;
}

export function pathOf(path: string, at: number): string {
  return `${path}.${at}`;
}

/** Gives what it saw, or throws what it could not live with. */
export async function perform(act: Act, path: string, seen: string, on: Performance): Promise<string> {
  const { step, event } = on;
  const name = stepNameOf(act, path);
  switch (act.kind) {
    case "do":
      return performDo(act, path, seen, on);
    case "stray":
      // As an author who forgot to await it.
      performDo(act.act, path, seen, on).catch(() => {});
      return "stray";
    case "sleep":
      await step.sleep(name, act.ms);
      return "slept";
    case "sleepUntil":
      await step.sleepUntil(name, event.timestamp.getTime() + act.ms);
      return "slept";
    case "wait":
    case "topic": {
      const { timeoutMs: timeout } = act;
      const what = act.kind === "wait" ? { type: act.type, timeout } : { topic: act.topic, timeout };
      const received = await step.waitForEvent<string>(name, what);
      return `heard ${received.payload}`;
    }
    case "log":
      await step.log.info(name);
      return "logged";
    case "try":
      return perform(act.act, pathOf(path, 0), seen, on).catch(
        (error: unknown) => `caught ${inWords(error)}`,
      );
    case "sequence":
      return inOrder(act.acts, path, seen, on);
    case "loop":
      return inOrder(Array<Act>(act.times).fill(act.act), path, seen, on);
    case "again":
      return performAgain(act, path, seen, on);
    case "all":
    case "race":
    case "any":
    case "allSettled":
      return together(act.kind, branchesOf(act.acts, path, seen, on));
  }
}

async function inOrder(
  acts: readonly Act[],
  path: string,
  seen: string,
  on: Performance,
  place = pathOf,
): Promise<string> {
  let all = "";
  for (const [at, act] of acts.entries())
    all += ` ${await perform(act, place(path, at), `${seen}${all}`, on)}`;
  return `(${all} )`;
}

async function performAgain(again: AgainAct, path: string, seen: string, on: Performance): Promise<string> {
  const { how, act } = again;
  if (how === "in a row") return inOrder(Array<Act>(again.times).fill(act), path, seen, on, usePath);
  const uses = (times: number, repeat: boolean): Promise<string>[] =>
    Array.from({ length: times }, (_, at) => performDo(act, usePath(path, at), seen, on, repeat));
  if (how === "numbered") return together("allSettled", uses(again.times, true));
  const first = await together("allSettled", uses(2, false));
  return `( ${first} ${await performDo(act, usePath(path, 2), `${seen} ${first}`, on)} )`;
}

function branchesOf(acts: readonly Act[], path: string, seen: string, on: Performance): Promise<string>[] {
  return acts.map((act, at) => perform(act, pathOf(path, at), seen, on));
}

async function together(
  kind: "all" | "race" | "any" | "allSettled",
  branches: Promise<string>[],
): Promise<string> {
  switch (kind) {
    case "all":
      return `[${(await Promise.all(branches)).join(", ")}]`;
    case "race":
      return `<${await Promise.race(branches)}>`;
    case "any":
      return `{${await Promise.any(branches)}}`;
    case "allSettled": {
      const settled = await Promise.allSettled(branches);
      return `[${settled.map((each) => (each.status === "fulfilled" ? each.value : `failed ${inWords(each.reason)}`)).join(", ")}]`;
    }
  }
}

async function performDo(
  act: DoAct,
  path: string,
  seen: string,
  on: Performance,
  repeat = false,
): Promise<string> {
  const { step, event, stage } = on;
  const config = {
    repeat,
    retries: { limit: act.retries, delay: act.retryDelayMs, backoff: "constant" },
    timeout: act.timeoutMs,
    ifInterrupted: act.ifInterrupted,
  } as const;
  const name = stepNameOf(act, path);
  const result = await step.do(name, config, async (context) => {
    const watch = stage.begin({ event, context, path, seen });
    try {
      const result = await body(act, path, seen, context, on);
      watch.end("returned");
      return result;
    } catch (error) {
      watch.end("threw");
      throw error;
    }
  });
  stage.received(name, result);
  return result.text;
}

async function body(
  act: DoAct,
  path: string,
  seen: string,
  context: StepContext,
  on: Performance,
): Promise<Result> {
  const { attempt, signal } = context;
  const { event, stage } = on;
  if (act.ms > 0) await unlessAborted(stage.pause(act.ms), act, signal);
  if (attempt <= act.tooSlow) await unlessAborted(stage.pause(act.timeoutMs * 2), act, signal);
  if (attempt <= act.failures) {
    const message = brokenText(path);
    throw act.hopeless ? new NonRetryableError(message) : new Error(message);
  }
  const inner = act.inner === null ? "" : await perform(act.inner, pathOf(path, 0), seen, on);
  const key = context.idempotencyKey;
  const row = act.row === "own" ? key : `${event.workflowName}/${event.instanceId} shared`;
  if (act.row !== "none") context.mutate((rows: Rows) => rows.insert(row, key));
  if (act.sends !== null) {
    const to = { workflow: event.workflowName, id: event.instanceId };
    context.sendEvent(to, { type: act.sends, payload: `${path} itself`, idempotencyKey: `${key} sent` });
  }
  if (act.starts)
    context.startWorkflow(event.workflowName, { id: startedId(event.instanceId, path), params: null });
  const pad = act.large ? { pad: "x".repeat(largeBytes) } : {};
  return stage.returned({ text: doneText(path, inner), nothing: undefined, when: new Date(0), ...pad });
}

/** What a body returns: more than JSON can say. */
export interface Result {
  readonly text: string;
  readonly nothing: undefined;
  readonly when: Date;
  readonly pad?: string;
}

/** Of what a step returns that is large. */
export const largeBytes = 20_000;

interface Rows {
  insert(key: string, value: unknown): void;
}

export function startedId(instanceId: string, path: string): string {
  return `${instanceId}-${path.replaceAll(".", "-")}`;
}

export function doneText(path: string, inner: string): string {
  return `did ${path}${inner}`;
}

export function brokenText(path: string): string {
  return `broke at ${path}`;
}

function unlessAborted(work: Promise<void>, { heedsAbort }: DoAct, signal: AbortSignal): Promise<void> {
  if (!heedsAbort) return work;
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject);
  });
}

/** An error as it is told: alike whether it is fresh or comes from history. */
export function inWords(error: unknown): string {
  if (error instanceof AggregateError) return `any of ${error.errors.map(inWords).join(" and ")}`;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code ?? message ?? String(error);
}
