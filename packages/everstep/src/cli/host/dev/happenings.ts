/** What a write to the store means for the person who watches: plain sentences, one per thing that happened. Pure. */

import type { ObservedWrite } from "../../../index.ts";
import { spokenDuration } from "../../output/time.ts";
import { shortened } from "./words.ts";

export type Mark = "begins" | "done" | "waits" | "again" | "fails" | "ends" | "says";

export interface Happening {
  readonly mark: Mark;
  readonly text: string;
}

type StoreRequest = ObservedWrite["request"];
type StoreOutcome = NonNullable<ObservedWrite["outcome"]>;
type Commit = Extract<StoreRequest, { kind: "commit" }>;
type Step = Commit["boundary"]["steps"][number];
type Waiting = Extract<Step, { status: "waiting" }>;
type Change = Extract<StoreRequest, { kind: "change" }>["change"];
type Next = Commit["boundary"]["next"];
type StoredError = NonNullable<Extract<Step, { status: "errored" }>["error"]>;
type LogLine = Commit["boundary"]["logs"][number];

export function happeningsOf(request: StoreRequest, outcome: StoreOutcome): readonly Happening[] {
  switch (request.kind) {
    case "create":
      return outcome.kind === "created" ? [{ mark: "begins", text: "created" }] : [];
    case "commit":
      return ofCommit(request, outcome);
    case "change":
      return ofChange(request.change, outcome);
    case "sendEvent": {
      const isNew = outcome.kind === "accepted" && !outcome.duplicate && !request.system;
      return isNew ? [{ mark: "says", text: `event "${request.type}" came` }] : [];
    }
    default:
      return [];
  }
}

function ofCommit({ boundary }: Commit, outcome: StoreOutcome): readonly Happening[] {
  if (outcome.kind !== "committed" && outcome.kind !== "paused") return [];
  const settled = outcome.timeoutsRefused ? [] : boundary.timeouts.map((timeout) => timeout.settled);
  const isPaused = outcome.kind === "paused";
  return [
    ...boundary.logs.filter(({ isReplay, level }) => !isReplay && level !== "debug").map(ofLog),
    ...[...boundary.steps, ...settled].map(ofStep),
    ...(isPaused ? [] : ofNext(boundary.next)),
  ];
}

function ofChange(change: Change, outcome: StoreOutcome): readonly Happening[] {
  if (outcome.kind !== "changed") return [];
  switch (change.kind) {
    case "pause":
      return [{ mark: "waits", text: "paused" }];
    case "resume":
      return [{ mark: "begins", text: "resumed" }];
    case "terminate":
      return [{ mark: "fails", text: because("terminated", change.reason.message) }];
    case "restart":
      return [{ mark: "begins", text: `restarted, run ${outcome.runNumber}` }];
    case "retryStep":
      return [{ mark: "again", text: "tried again where it failed" }];
  }
}

function ofStep(step: Step): Happening {
  switch (step.status) {
    case "completed":
      return { mark: "done", text: completed(step) };
    case "waiting":
      return waiting(step);
    case "errored":
      return { mark: "fails", text: because(`"${step.key}" failed`, reasonOf(step.error)) };
  }
}

function completed(step: Extract<Step, { status: "completed" }>): string {
  if (step.type === "sleep") return `"${step.key}" is over`;
  if (step.type === "waitForEvent") return `"${step.key}" received ${awaited(step)}`;
  const tries = step.attempts > 1 ? `, attempt ${step.attempts}` : "";
  return `"${step.key}" done (${spokenDuration(step.settledAt - step.createdAt)}${tries})`;
}

function waiting(step: Waiting): Happening {
  switch (step.waitsFor) {
    case "timer":
      return {
        mark: "waits",
        text: `"${step.key}" sleeps for ${about(step.wakeAt - step.createdAt)}`,
      };
    case "event": {
      const most = about(step.wakeAt - step.createdAt);
      return { mark: "waits", text: `"${step.key}" waits for ${awaited(step)} (${most} at most)` };
    }
    case "retry":
      return { mark: "again", text: retried(step) };
  }
}

function retried(step: Waiting): string {
  const last = step.errors.at(-1);
  const of = step.maxAttempts === null ? "" : ` of ${step.maxAttempts}`;
  const delay = about(step.wakeAt - (last?.at ?? step.createdAt));
  const what = `"${step.key}" failed, attempt ${step.attempts}${of}, again in ${delay}`;
  return because(what, last && reasonOf(last.error));
}

/** As it was asked for: a few milliseconds had passed when it was recorded. */
function about(ms: number): string {
  return spokenDuration(Math.ceil(ms / 100) * 100);
}

function awaited({ eventType, topic }: Pick<Step, "eventType" | "topic">): string {
  return topic === null ? `event "${eventType}"` : `topic "${topic}"`;
}

function ofNext(next: Next): readonly Happening[] {
  switch (next.kind) {
    case "complete":
      return [{ mark: "ends", text: because("complete", outputOf(next.output.json)) }];
    case "error":
      return [{ mark: "fails", text: because("errored", reasonOf(next.error)) }];
    case "terminate":
      return [{ mark: "fails", text: because("terminated", next.reason.message) }];
    default:
      return [];
  }
}

function ofLog({ level, message }: LogLine): Happening {
  return { mark: "says", text: level === "info" ? message : `${level}: ${message}` };
}

function outputOf(json: string): string | null {
  return json === "null" || json === "" ? null : json;
}

function reasonOf({ name, message }: StoredError): string {
  return name === "Error" || message === "" ? message || name : `${name}: ${message}`;
}

function because(what: string, why: string | null | undefined): string {
  return why ? `${what}: ${shortened(why)}` : what;
}
