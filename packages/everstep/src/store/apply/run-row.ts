/** The hot row of a run: everything that decides whether a write about it is allowed, and nothing large. */
import type { BegunBody, InstanceStatus } from "../../model/instance.ts";
import type { TaskKind } from "../../model/task.ts";

export interface RunRow {
  readonly run: number;
  readonly instance: number;
  readonly workflow: string;
  readonly runNumber: number;
  readonly previousRun: number | null;
  /** The instance's, for the order of lists. */
  readonly createdAt: number;
  isCurrent: boolean;
  status: InstanceStatus;
  kind: TaskKind;
  /** See lane.ts; null when it wants no turn. */
  lane: number | null;
  /** Under a lease: its end. */
  dueAt: number;
  /** The last one. */
  owner: string | null;
  token: number;
  /** Number of the last boundary applied under the token. */
  lastCommit: number;
  eventSeq: number;
  logSeq: number;
  crashCount: number;
  /** There is a history to read. */
  recorded: boolean;
  deadLetter: boolean;
  startedAt: number | null;
  waitingSince: number | null;
  pausedAt: number | null;
  updatedAt: number;
  pruneAt: number | null;
  begun: Begun;
}

/**
 * Bodies in flight. No rule looks at them, so a store need not parse what it has: a text that it left unread goes back as
 * it was, damaged or not.
 */
export type Begun = readonly BegunBody[] | { readonly unread: string };
