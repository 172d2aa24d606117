/** What a person looks for, as it stands in the address and as the service is asked. */
import type { InstanceStatus, ListAllOptions } from "everstep/client";
import type { Query } from "../../links.ts";
import { statuses } from "../../words/statuses.ts";

export interface Filters {
  readonly workflowName: string | null;
  /** Any if none is named. */
  readonly statuses: readonly InstanceStatus[];
  readonly isDeadLetter: boolean;
  readonly createdFrom: number | null;
  /** "1h", "1d" or "7d": reckoned from when the list is opened. */
  readonly last: Span | null;
  readonly createdBefore: number | null;
  readonly idPrefix: string;
  readonly order: "asc" | "desc";
}

export type Span = "1h" | "1d" | "7d";

export const spans: Readonly<Record<Span, { readonly ms: number; readonly words: string }>> = {
  "1h": { ms: 3_600_000, words: "Last hour" },
  "1d": { ms: 86_400_000, words: "Last day" },
  "7d": { ms: 604_800_000, words: "Last week" },
};

/** Whatever cannot be read is left out: an address may be typed by hand. */
export function readFilters(get: (name: string) => string | null): Filters {
  const named = (get("status") ?? "").split(",");
  const last = get("last");
  return {
    workflowName: get("workflow") || null,
    statuses: statuses.filter((status) => named.includes(status)),
    isDeadLetter: get("dead") === "true",
    createdFrom: timeOf(get("from")),
    last: last !== null && Object.hasOwn(spans, last) ? (last as Span) : null,
    createdBefore: timeOf(get("until")),
    idPrefix: (get("id") ?? "").trim(),
    order: get("order") === "asc" ? "asc" : "desc",
  };
}

/** What stands in the address for these; null for what is as it is without. */
export function writeFilters(filters: Partial<Filters>): Query {
  const query: Record<string, string | null> = {};
  if ("workflowName" in filters) query.workflow = filters.workflowName ?? null;
  if (filters.statuses) query.status = filters.statuses.join(",") || null;
  if ("isDeadLetter" in filters) query.dead = filters.isDeadLetter ? "true" : null;
  if ("createdFrom" in filters) query.from = isoOf(filters.createdFrom);
  if ("last" in filters) query.last = filters.last ?? null;
  if ("createdBefore" in filters) query.until = isoOf(filters.createdBefore);
  if ("idPrefix" in filters) query.id = filters.idPrefix || null;
  if ("order" in filters) query.order = filters.order === "asc" ? "asc" : null;
  return query;
}

/** Takes every filter out; the order stays. */
export const noFilters: Query = writeFilters({
  workflowName: null,
  statuses: [],
  isDeadLetter: false,
  createdFrom: null,
  last: null,
  createdBefore: null,
  idPrefix: "",
});

/** As the service is asked, without the workflow, which is part of the address there. */
export function listOptionsOf(filters: Filters, now: number): ListAllOptions {
  const from = filters.last === null ? filters.createdFrom : now - spans[filters.last].ms;
  return {
    brief: true,
    order: filters.order,
    ...(filters.statuses.length === 0 ? {} : { status: filters.statuses }),
    ...(filters.isDeadLetter ? { deadLetter: true } : {}),
    ...(from === null ? {} : { createdFrom: from }),
    ...(filters.createdBefore === null ? {} : { createdBefore: filters.createdBefore }),
    ...(filters.idPrefix === "" ? {} : { idPrefix: filters.idPrefix }),
  };
}

/** The same name, the same list. */
export function nameOf(filters: Filters): string {
  return JSON.stringify(filters);
}

/** The service counts by workflow and status only: of what is narrowed further there are no counts. */
export function hasCounts(filters: Filters): boolean {
  return !isNarrowed({ ...filters, workflowName: null, statuses: [] });
}

export function isNarrowed(filters: Filters): boolean {
  return nameOf({ ...filters, order: "desc" }) !== nameOf(readFilters(() => null));
}

/** With the status, if it was not there; without it, if it was. */
export function toggled(named: readonly InstanceStatus[], status: InstanceStatus): readonly InstanceStatus[] {
  return statuses.filter((each) => named.includes(each) !== (each === status));
}

function timeOf(text: string | null): number | null {
  const at = text === null || text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : at;
}

function isoOf(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}
