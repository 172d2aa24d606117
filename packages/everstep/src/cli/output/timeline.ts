/** The steps of a run, each with what it is about, how long it took, and a bar that shows when. */

import { cleaned } from "../../model/clean-text.ts";
import type { WireStep } from "../../wire/index.ts";
import { whenOver } from "../../words/index.ts";
import type { Output, Piece } from "./output.ts";
import { painted } from "./paint.ts";
import { cutOffText } from "./running-step.ts";
import { stepMark } from "./status.ts";
import { durationBetween, spokenDuration, whenDue } from "./time.ts";
import { errorText } from "./value.ts";
import { shortened, widthOf } from "./width.ts";

/** `endedAt`: when the instance ended; what was open then was never finished, and its time does not go on. */
export function writeTimeline(
  steps: readonly WireStep[],
  now: number,
  out: Output,
  endedAt: string | null = null,
): void {
  const until = endedAt === null ? now : Date.parse(endedAt);
  const isLeft = ({ settledAt }: WireStep): boolean => endedAt !== null && settledAt === null;
  const rows = steps.map((step) => ({
    step,
    name: cleaned(`${"  ".repeat(step.depth)}${step.depth === 0 ? step.stepKey : nameInside(step)}`),
    what: cleaned(isLeft(step) ? `${kindOf(step)}, not finished` : whatOf(step, now)),
    took: isLeft(step) ? spokenDuration(durationBetween(step.createdAt, until)) : tookOf(step, now),
  }));
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(widthOf));
  const nameWidth = Math.min(widest(rows.map(({ name }) => name)), nameMax);
  const whatWidth = Math.min(widest(rows.map(({ what }) => what)), whatMax);
  const tookWidth = widest(rows.map(({ took }) => took));
  const left = Math.min(out.columns, columnsMax) - nameWidth - whatWidth - tookWidth - 10;
  const bar = left < barMin ? undefined : barsOver(steps, until, Math.min(left, barMax));
  for (const { step, name, what, took } of rows) {
    const pieces: Piece[] = ["  ", stepMark(step.status), " ", padded(name, nameWidth), "  "];
    pieces.push(painted("dim", padded(what, whatWidth)), "  ", took.padStart(tookWidth));
    if (bar !== undefined) pieces.push("  ", bar(step));
    out.line(...pieces);
    writeFailure(step, out);
  }
}

const nameMax = 40;
const whatMax = 44;
const columnsMax = 120;
const barMin = 8;
const barMax = 30;

function nameInside({ stepKey, parentKey }: WireStep): string {
  return parentKey !== null && stepKey.startsWith(`${parentKey}/`)
    ? stepKey.slice(parentKey.length + 1)
    : stepKey;
}

function writeFailure({ status, error, errors }: WireStep, out: Output): void {
  const last = errors.at(-1);
  if (status === "errored" && error !== undefined) out.line("    ", painted("red", errorText(error)));
  if (status === "waiting" && last !== undefined) {
    out.line("    ", painted("yellow", `attempt ${last.attempt}: ${errorText(last)}`));
  }
}

/** What kind of step it is, and what it waits for. */
export function whatOf(step: WireStep, now: number): string {
  switch (step.type) {
    case "sleep":
      return step.status === "waiting" && step.wakeAt
        ? `sleep, ${whenOver.sleep} ${whenDue(step.wakeAt, now)}`
        : "sleep";
    case "waitForEvent":
      return waitText(step, now);
    case "do":
      return attemptText(step, now);
  }
}

function kindOf(step: WireStep): string {
  return step.type === "waitForEvent" ? awaitedBy(step) : step.type;
}

function awaitedBy({ waitEventType, topic }: WireStep): string {
  return topic === null ? `event ${waitEventType}` : `topic ${topic}`;
}

function waitText(step: WireStep, now: number): string {
  const { status, wakeAt } = step;
  const until = status === "waiting" && wakeAt ? `, ${whenOver.event} ${whenDue(wakeAt, now)}` : "";
  return `${awaitedBy(step)}${until}`;
}

function attemptText(step: WireStep, now: number): string {
  const { status, attempts, maxAttempts, nextRetryAt } = step;
  const cutOff = cutOffText(step);
  const most = maxAttempts === null ? "" : ` of ${maxAttempts}`;
  const retry = nextRetryAt === null ? "" : `, ${whenOver.retry} ${whenDue(nextRetryAt, now)}`;
  if (status === "waiting") return `failed ${attempts}${most}${cutOff}${retry}`;
  const attempt = status === "running" ? attempts + 1 : attempts;
  return attempt > 1 ? `do, attempt ${attempt}${most}${cutOff}` : `do${cutOff}`;
}

function tookOf({ createdAt, settledAt, status }: WireStep, now: number): string {
  if (settledAt !== null) return spokenDuration(durationBetween(createdAt, settledAt));
  return status === "running" || status === "waiting"
    ? `${spokenDuration(durationBetween(createdAt, now))}…`
    : "";
}

/** Draws a step's time on a scale from the first step's beginning to the last one's end, or to now. */
function barsOver(steps: readonly WireStep[], now: number, width: number): (step: WireStep) => Piece {
  const endOf = ({ settledAt }: WireStep): number => (settledAt === null ? now : Date.parse(settledAt));
  const first = Math.min(...steps.map(({ createdAt }) => Date.parse(createdAt)));
  const span = Math.max(1, ...steps.map((step) => endOf(step) - first));
  const cell = (time: number): number => Math.min(width - 1, Math.floor(((time - first) / span) * width));
  return (step) => {
    const from = cell(Date.parse(step.createdAt));
    const to = Math.max(from, cell(endOf(step)));
    const isOpen = step.settledAt === null;
    const line = (isOpen ? "┄" : "━").repeat(to - from + 1);
    return painted("blue", `${" ".repeat(from)}${line}`);
  };
}

function padded(text: string, width: number): string {
  const shown = shortened(text, width);
  return shown + " ".repeat(width - widthOf(shown));
}
