/** What a list keeps of an instance: little, because a list may be long. */
import type { InstanceStatus, WireInstanceWithMeta, WireMeta, WireRef } from "everstep/client";

export interface Row extends WireRef, Pick<WireMeta, "runNumber" | "executing" | "queued" | "deadLetter"> {
  /** Tells instances apart across workflows. */
  readonly key: string;
  readonly status: InstanceStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  readonly dueAt: number | null;
  /** Why it errored or was terminated, clipped. */
  readonly why: string | null;
  /** It was in the list when it was loaded, and is not any more: what it is now is not known here. */
  readonly hasLeft: boolean;
}

const whyMax = 240;

export function rowOf({ id, details, meta }: WireInstanceWithMeta): Row {
  return {
    key: keyOf({ workflowName: meta.workflowName, instanceId: id }),
    workflowName: meta.workflowName,
    instanceId: id,
    status: details.status,
    runNumber: meta.runNumber,
    createdAt: Date.parse(meta.createdAt),
    updatedAt: Date.parse(meta.updatedAt),
    startedAt: timeOf(meta.startedAt),
    completedAt: timeOf(meta.completedAt),
    dueAt: timeOf(meta.dueAt),
    executing: meta.executing,
    queued: meta.queued,
    deadLetter: meta.deadLetter,
    why: whyOf({ details, meta }),
    hasLeft: false,
  };
}

/** A workflow's name has no space in it. */
export function keyOf({ workflowName, instanceId }: WireRef): string {
  return `${workflowName} ${instanceId}`;
}

export function isSameRow(a: Row, b: Row): boolean {
  return (
    a.updatedAt === b.updatedAt &&
    a.status === b.status &&
    a.runNumber === b.runNumber &&
    a.executing === b.executing &&
    a.queued === b.queued &&
    a.dueAt === b.dueAt &&
    a.startedAt === b.startedAt &&
    a.hasLeft === b.hasLeft
  );
}

function timeOf(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

function whyOf({ details, meta }: Pick<WireInstanceWithMeta, "details" | "meta">): string | null {
  if (details.error) return `${details.error.name}: ${details.error.message}`.slice(0, whyMax);
  const reason = meta.terminationReason;
  if (!reason) return null;
  const who = reason.by === undefined ? endings[reason.source] : `by ${reason.by}`;
  const text = reason.message ?? who ?? reason.source;
  return (reason.by !== undefined && reason.message ? `${text} (${who})` : text).slice(0, whyMax);
}

const endings: Readonly<Record<string, string>> = {
  user: "by a person",
  maxRunDuration: "ran for longer than it may",
  maxSuspendDuration: "waited for longer than it may",
  deadline: "its deadline passed",
  restarted: "restarted",
};
