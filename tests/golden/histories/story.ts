import type { HistoryDocument, InstanceHandle, WorkflowDefinition } from "everstep";
import type { TestHarness } from "everstep/testing";

/** A short life of some instances, told the same way every time, and the moments of it that are kept. */
export interface Story {
  readonly name: string;
  readonly workflows: Record<string, WorkflowDefinition>;
  play(harness: TestHarness, keep: Keep): Promise<void>;
}

/** Keeps the history of an instance as it is now, under the name of the moment. */
export type Keep = (moment: string, instance: InstanceHandle, runNumber?: number) => Promise<void>;

export interface KeptHistory {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly history: HistoryDocument;
}

/** The handle of a workflow by its key. */
export function handleOf(harness: TestHarness, key: string) {
  const handle = harness.workflows[key];
  if (!handle) throw new Error(`There is no workflow ${key}.`);
  return handle;
}
