/** Two runs of an instance, step by step. */
import type { WireStep } from "everstep/client";
import { timeOf } from "../../../words/time.ts";

export interface ComparedStep {
  readonly stepKey: string;
  readonly depth: number;
  readonly left: WireStep | undefined;
  readonly right: WireStep | undefined;
  readonly leftMs: number | null;
  readonly rightMs: number | null;
  /** How much longer the right one took; null where one of them has not ended. */
  readonly differenceMs: number | null;
  readonly findings: readonly Finding[];
}

export type Finding = "added" | "gone" | "kept" | "slower" | "faster" | "status changed" | "result changed";

/** Less than this is no difference that anybody would look for. */
const leastMs = 50;
const leastPart = 0.2;

/** In the order of the right run; what only the left one has stands after the step it followed there. */
export function compareRuns(left: readonly WireStep[], right: readonly WireStep[]): readonly ComparedStep[] {
  const lefts = new Map(left.map((step) => [step.stepKey, step]));
  const rights = new Set(right.map(({ stepKey }) => stepKey));
  const goneAfter = new Map<string | undefined, ComparedStep[]>();
  let last: string | undefined;
  for (const step of left) {
    if (rights.has(step.stepKey)) last = step.stepKey;
    else goneAfter.set(last, [...(goneAfter.get(last) ?? []), compared(step, undefined)]);
  }
  const gone = (after: string | undefined): readonly ComparedStep[] => goneAfter.get(after) ?? [];
  return [
    ...gone(undefined),
    ...right.flatMap((step) => [compared(lefts.get(step.stepKey), step), ...gone(step.stepKey)]),
  ];
}

function compared(left: WireStep | undefined, right: WireStep | undefined): ComparedStep {
  const leftMs = tookMs(left);
  const rightMs = tookMs(right);
  const differenceMs = leftMs === null || rightMs === null ? null : rightMs - leftMs;
  const { stepKey = "", depth = 0 } = right ?? left ?? {};
  const findings = findingsOf(left, right, differenceMs, leftMs);
  return { stepKey, depth, left, right, leftMs, rightMs, differenceMs, findings };
}

function findingsOf(
  left: WireStep | undefined,
  right: WireStep | undefined,
  differenceMs: number | null,
  leftMs: number | null,
): Finding[] {
  if (!left) return ["added"];
  if (!right) return ["gone"];
  // A restart from a later step keeps the record itself.
  if (left.settledAt !== null && left.createdAt === right.createdAt && left.settledAt === right.settledAt)
    return ["kept"];
  const findings: Finding[] = [];
  if (left.status !== right.status) findings.push("status changed");
  else if (asText(left.result) !== asText(right.result)) findings.push("result changed");
  const most = Math.max(leastMs, (leftMs ?? 0) * leastPart);
  if (differenceMs !== null && Math.abs(differenceMs) >= most)
    findings.push(differenceMs > 0 ? "slower" : "faster");
  return findings;
}

export function tookMs(step: Pick<WireStep, "createdAt" | "settledAt"> | undefined): number | null {
  return step?.settledAt ? timeOf(step.settledAt) - timeOf(step.createdAt) : null;
}

/** The same for the same value, whatever the order of its names. */
function asText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (isPlain(each) ? sorted(each) : each)) ?? "";
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
}
