import { hasExistingDay } from "../model/existing-day.ts";
import { parseJson } from "../model/json.ts";
import { timeMax } from "../model/limits.ts";

/** What a message says, as far as it matters for handling it. */
export interface QueuedHint {
  readonly workflowName: string;
  readonly instanceId: string;
  /** Epoch milliseconds; the beginning of time when it is due at once. */
  readonly dueAt: number;
  /** Epoch milliseconds; null when nobody says. */
  readonly enqueuedAt: number | null;
}

/** Reads the body of a message; null when it is no hint. On its way a Date may have become text. */
export function queuedHint(body: unknown, timestamp?: unknown): QueuedHint | null {
  const said = typeof body === "string" ? parsed(body) : body;
  if (typeof said !== "object" || said === null) return null;
  const { workflowName, instanceId, dueAt, enqueuedAt } = said as Readonly<Record<string, unknown>>;
  if (!isName(workflowName) || !isName(instanceId)) return null;
  const due = dueAt === undefined || dueAt === null ? 0 : timeOf(dueAt);
  const sent = timeOf(enqueuedAt ?? timestamp ?? null);
  if (due === undefined || sent === undefined) return null;
  return { workflowName, instanceId, dueAt: due ?? 0, enqueuedAt: sent };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Undefined for what is no time. */
function timeOf(value: unknown): number | null | undefined {
  if (value === null) return null;
  const time =
    value instanceof Date ? value.getTime() : typeof value === "string" ? parsedTime(value) : value;
  return typeof time === "number" && Math.abs(time) <= timeMax ? time : undefined;
}

function parsedTime(text: string): number {
  const hasDay = /^[+-]?\d{4,6}-\d\d-\d\d/.test(text);
  return hasDay && !hasExistingDay(text) ? Number.NaN : Date.parse(text);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
