/** Steps as rows: those inside of others under them, each with what it did. */
import type { InstanceStatus, WireMeta, WireRunningBody, WireStep } from "everstep/client";
import { isEnded } from "../../../words/statuses.ts";
import { timeOf } from "../../../words/time.ts";
import { type Segment, segmentsOf } from "./segments.ts";

export interface Row {
  readonly key: string;
  readonly name: string;
  /** Null while it runs for the first time: there is no record yet. */
  readonly step: WireStep | null;
  readonly type: WireStep["type"];
  readonly state: RowState;
  readonly depth: number;
  readonly parentKey: string | null;
  readonly hasInside: boolean;
  readonly from: number;
  readonly segments: readonly Segment[];
  /** It may still change. */
  readonly isOpen: boolean;
}

export type RowState = "running" | "retrying" | "sleeping" | "awaiting" | "completed" | "errored" | "left";

/** All about one run that does not depend on what time it is. */
export interface RunRows {
  readonly rows: readonly Row[];
  /** When this run was asked for; steps that it took over may be older. */
  readonly beganAt: number;
  readonly startedAt: number | null;
  /** Of one that has not started: when it may. */
  readonly startsAt: number | null;
  readonly endedAt: number | null;
  /** The first time that is shown. */
  readonly origin: number;
  /** The newest time that the records know: it cannot be earlier now, whatever the clock here says. */
  readonly newest: number;
}

export interface RunTold {
  readonly steps: readonly WireStep[];
  readonly running: readonly WireRunningBody[];
  readonly meta: WireMeta;
  readonly status: InstanceStatus;
}

export function runRowsOf(told: RunTold): RunRows {
  const { meta, status } = told;
  const endedAt = isEnded(status) ? timeOf(meta.completedAt ?? meta.updatedAt) : null;
  const rows = rowsOf(told, endedAt);
  const startedAt = meta.startedAt === null ? null : timeOf(meta.startedAt);
  const startsAt = startedAt === null && meta.dueAt !== null ? timeOf(meta.dueAt) : null;
  // An instance is created once, a run began when it was asked for; only of the first one that time is known.
  const isFirst = meta.runNumber === 1;
  const beganAt = isFirst ? timeOf(meta.createdAt) : (startedAt ?? timeOf(meta.updatedAt));
  const firsts = rows.map(({ from }) => from);
  const origin = firsts.reduce((first, from) => Math.min(first, from), beganAt);
  const ends = rows.flatMap(({ segments }) => segments.map(({ from, to }) => to ?? from));
  const newest = ends.reduce((last, at) => Math.max(last, at), startedAt ?? beganAt);
  return { rows, beganAt, startedAt, startsAt, endedAt, origin, newest: Math.max(newest, endedAt ?? newest) };
}

function rowsOf({ steps, running }: RunTold, endedAt: number | null): readonly Row[] {
  const bodies = new Map(running.map((body) => [body.stepKey, body]));
  const known = new Set([...steps.map(({ stepKey }) => stepKey), ...bodies.keys()]);
  const flat = [
    ...steps.map((step) => flatRow(step, bodies.get(step.stepKey) ?? null, step.parentKey, endedAt)),
    ...running
      .filter(({ stepKey }) => !steps.some((step) => step.stepKey === stepKey))
      .map((body) => flatRow(null, body, parentKeyOf(body.stepKey, known), endedAt)),
  ];
  return inTreeOrder(flat);
}

type FlatRow = Omit<Row, "depth" | "hasInside">;

function flatRow(
  step: WireStep | null,
  body: WireRunningBody | null,
  parentKey: string | null,
  endedAt: number | null,
): FlatRow {
  const shown = step?.settledAt ? null : body;
  const segments = segmentsOf({ step, body: shown, endedAt });
  const state = stateOf(step, shown, endedAt);
  return {
    key: step?.stepKey ?? (body as WireRunningBody).stepKey,
    name: step?.name ?? (body as WireRunningBody).name,
    step,
    type: step?.type ?? "do",
    state,
    parentKey,
    from: segments[0]?.from ?? timeOf((step as WireStep).createdAt),
    segments,
    isOpen: segments.some(({ to }) => to === null),
  };
}

function stateOf(step: WireStep | null, body: WireRunningBody | null, endedAt: number | null): RowState {
  if (step?.status === "completed" || step?.status === "errored") return step.status;
  if (endedAt !== null) return "left";
  if (step === null || body !== null) return "running";
  if (step.type === "do") return "retrying";
  return step.type === "sleep" ? "sleeping" : "awaiting";
}

/** Those inside of a step follow it. Each level in the order of first start. */
function inTreeOrder(flat: readonly FlatRow[]): readonly Row[] {
  const keys = new Set(flat.map(({ key }) => key));
  const inside = new Map<string | null, FlatRow[]>();
  for (const row of flat) {
    // What is inside of a step that is not known is shown all the same.
    const parent = row.parentKey !== null && keys.has(row.parentKey) ? row.parentKey : null;
    const siblings = inside.get(parent);
    if (siblings) siblings.push(row);
    else inside.set(parent, [row]);
  }
  const ordered: Row[] = [];
  const add = (parent: string | null, depth: number): void => {
    for (const row of (inside.get(parent) ?? []).sort(byFirstStart)) {
      const hasInside = inside.has(row.key);
      ordered.push({ ...row, depth, hasInside });
      if (hasInside) add(row.key, depth + 1);
    }
  };
  add(null, 0);
  return ordered;
}

function byFirstStart(a: FlatRow, b: FlatRow): number {
  if (a.step && b.step) return a.step.index - b.step.index;
  return a.from - b.from;
}

/** The key up to its last slash that is no part of a name; code written for Cloudflare also has the parent's attempt. */
export function parentKeyOf(key: string, known: ReadonlySet<string>): string | null {
  for (let at = key.length - 1; at > 0; at--) {
    if (key[at] !== "/" || isEscaped(key, at)) continue;
    const outer = key.slice(0, at);
    if (known.has(outer)) return outer;
    const bare = outer.replace(/@\d+$/, "");
    return known.has(bare) ? bare : null;
  }
  return null;
}

function isEscaped(key: string, at: number): boolean {
  let slashes = 0;
  while (key[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

// ------------------------------------------------------------------------------------------------ choice

export interface Choice {
  readonly find: string;
  readonly isCompletedHidden: boolean;
  /** Steps whose inside is not shown, by their keys. */
  readonly folded: ReadonlySet<string>;
}

/** Those that somebody wants to see. What a row is inside of stays with it. */
export function chosenRows(
  rows: readonly Row[],
  { find, isCompletedHidden, folded }: Choice,
): readonly Row[] {
  const wanted = find.trim().toLowerCase();
  const isWanted = ({ name, state }: Row): boolean =>
    !(isCompletedHidden && state === "completed") && name.toLowerCase().includes(wanted);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const kept = new Set<string>();
  for (const row of rows) {
    if (!isWanted(row)) continue;
    for (let at: Row | undefined = row; at && !kept.has(at.key); at = byKey.get(at.parentKey ?? "")) {
      kept.add(at.key);
    }
  }
  const hidden = new Set<string>();
  return rows.filter((row) => {
    const isInsideFolded = row.parentKey !== null && (hidden.has(row.parentKey) || folded.has(row.parentKey));
    if (isInsideFolded) hidden.add(row.key);
    return kept.has(row.key) && !isInsideFolded;
  });
}
