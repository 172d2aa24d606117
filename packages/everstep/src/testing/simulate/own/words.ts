/** What the records of the engine are called when somebody is told about them. */
import type { Next } from "../../../model/boundary.ts";
import type { InstanceRef } from "../../../model/instance.ts";
import type { CommitRequest } from "../../../model/request.ts";
import type { StepRecord } from "../../../model/step.ts";
import type { StoreMethod } from "../../intercept-store.ts";

export function nameOf({ workflowName, instanceId }: InstanceRef): string {
  return `${workflowName} "${instanceId}"`;
}

export const changed = {
  pause: "paused",
  resume: "resumed",
  terminate: "terminated",
  restart: "restarted",
  retryStep: "given another attempt at its failed step",
} as const;

export const aboutToRecord: Readonly<Record<Next["kind"], string>> = {
  continue: "that the next step begins",
  suspend: "that it waits",
  yield: "that it is given back",
  complete: "that it is complete",
  error: "that it failed",
  terminate: "that it is ended",
};

export const aboutTo: Readonly<Partial<Record<StoreMethod, string>>> = {
  claim: "to look for work",
  renew: "to keep its leases",
  release: "to give leases back",
  readRuns: "to read a history",
  nextDueAt: "to ask what is due next",
  migrate: "to set up",
};

export function stepsOf({ boundary }: CommitRequest): string[] {
  return [
    ...boundary.steps.map((step) => `"${step.name}" ${stepWords(step)}`),
    ...boundary.timeouts.map(({ wait }) => `"${wait.name}" timed out`),
  ];
}

function stepWords(step: StepRecord): string {
  if (step.status === "completed") return "completed";
  if (step.status === "errored") return `failed (${step.error.message})`;
  switch (step.waitsFor) {
    case "timer":
      return "sleeps";
    case "retry":
      return `failed and is tried again later (${step.errors.at(-1)?.error.message ?? "?"})`;
    case "event":
      return `waits for ${step.eventType === null ? `topic "${step.topic}"` : `event "${step.eventType}"`}`;
  }
}

export function ordinal(count: number): string {
  return ["first", "second", "third"][count - 1] ?? `${count}th`;
}
