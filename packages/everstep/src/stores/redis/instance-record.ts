import { type InstanceRecord, type InstanceRef, instanceStatuses } from "../../model/instance.ts";
import { readBegunIfSound } from "./begun-text.ts";
import { readEnding } from "./ending-text.ts";
import { parse } from "./record-text.ts";
import { integer, integerOrNull, type Reply, text, textOrNull, unreadable, word } from "./reply.ts";

/** In the order of `scripts/record.lua.ts`. */
export function readInstance(reply: readonly Reply[]): InstanceRecord {
  const [
    workflowName,
    instanceId,
    runId,
    runNumber,
    statusText,
    lane,
    dueAt,
    token,
    crashCount,
    begun,
    dead,
  ] = reply;
  const [startedAt, updatedAt, pausedAt, completedAt, retentionUntil, ending] = reply.slice(11);
  const [params, marks, createdAt, deadlineAt, retentionMs, parent, unlisted] = reply.slice(17);
  const status = word(statusText, instanceStatuses);
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    runId: integer(runId),
    runNumber: integer(runNumber),
    status,
    params: { json: text(params), marks: textOrNull(marks) },
    ...readEnding(textOrNull(ending), status),
    deadLetter: dead === "1",
    createdAt: integer(createdAt),
    startedAt: integerOrNull(startedAt),
    updatedAt: integer(updatedAt),
    completedAt: integerOrNull(completedAt),
    pausedAt: integerOrNull(pausedAt),
    deadlineAt: integerOrNull(deadlineAt),
    retentionMs: integerOrNull(retentionMs),
    retentionUntil: integerOrNull(retentionUntil),
    parent: readParent(textOrNull(parent)),
    executing: lane === "held" || lane === "heldPaused",
    dueAt: lane === null ? null : integer(dueAt),
    crashCount: integer(crashCount),
    token: integer(token),
    begun: readBegunIfSound(textOrNull(begun)) ?? [],
    ...(unlisted === "1" ? { unlisted: true } : {}),
  };
}

function readParent(json: string | null): InstanceRef | null {
  if (json === null) return null;
  const parent = parse(json);
  if (!Array.isArray(parent)) throw unreadable("a parent", json);
  return { workflowName: parent[0], instanceId: parent[1] };
}
