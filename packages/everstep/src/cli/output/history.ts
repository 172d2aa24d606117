/** What happened in a run, in the order in which it happened, one line each. */
import type { WireEvent, WireLogLine, WireStep } from "../../wire/index.ts";
import type { WholeHistory } from "../whole-history.ts";
import { logPieces } from "./log-line.ts";
import type { Output, Piece } from "./output.ts";
import { painted } from "./paint.ts";
import { cutOffText } from "./running-step.ts";
import { stepMark } from "./status.ts";
import { absoluteTime, durationBetween, localTime, spokenDuration } from "./time.ts";
import { errorText, shortValue } from "./value.ts";

export function writeHistory(history: WholeHistory, out: Output): void {
  const indexes = new Map(history.steps.map(({ stepKey, index }) => [stepKey, index]));
  const happenings = [
    ...history.steps.flatMap(stepHappenings),
    ...history.events.map((event) => eventHappening(event, indexes)),
    ...history.logs.map((line) => logHappening(line, indexes)),
  ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || a.order - b.order);
  let day = "";
  for (const { at, pieces } of happenings) {
    const local = localTime(at) ?? { day: at, time: "", zone: "" };
    const today = `${local.day} ${local.zone}`;
    if (today !== day) {
      day = today;
      out.line(painted("dim", today));
    }
    out.line(painted("dim", local.time), "  ", ...pieces);
  }
}

interface Happening {
  readonly at: string;
  /** Among those of the same millisecond. */
  readonly order: number;
  readonly pieces: readonly Piece[];
}

function stepHappenings(step: WireStep): readonly Happening[] {
  const { index, createdAt, settledAt, errors, status } = step;
  const begins: Happening = { at: createdAt, order: 2 * index, pieces: [...beginning(step)] };
  const failures = errors
    .filter(({ attempt }) => !(status === "errored" && attempt === step.attempts))
    .map((failure): Happening => {
      const text = ` attempt ${failure.attempt} failed: ${errorText(failure)}`;
      return {
        at: failure.at,
        order: 2 * index + 0.5,
        pieces: [painted("yellow", "↻"), ` ${step.stepKey}${text}`],
      };
    });
  if (settledAt === null) return [begins, ...failures];
  return [begins, ...failures, { at: settledAt, order: 2 * index + 1, pieces: ending(step, settledAt) }];
}

function beginning(step: WireStep): readonly Piece[] {
  const { type, stepKey, wakeAt, waitEventType, topic } = step;
  const until = wakeAt === null ? "" : ` until ${absoluteTime(wakeAt)}`;
  if (type === "do") {
    const isOn = step.status === "running" ? ` and is at work${cutOffText(step)}` : "";
    return [stepMark("running"), ` ${stepKey}`, painted("dim", ` begins${isOn}`)];
  }
  const what =
    type === "sleep" ? "sleeps" : `waits for ${topic === null ? `event ${waitEventType}` : `topic ${topic}`}`;
  return [stepMark("waiting"), ` ${stepKey}`, painted("dim", ` ${what}${until}`)];
}

function ending(step: WireStep, settledAt: string): readonly Piece[] {
  const { status, stepKey, createdAt, attempts, error, type } = step;
  const tries = `${attempts > 1 ? `, attempt ${attempts}` : ""}${cutOffText(step)}`;
  const took = painted("dim", ` after ${spokenDuration(durationBetween(createdAt, settledAt))}${tries}`);
  if (error !== undefined)
    return [stepMark(status), ` ${stepKey}`, took, painted("red", `  ${errorText(error)}`)];
  // What a wait received has a line of its own, and a sleep has nothing to say.
  const isTold = type === "do" && step.result !== undefined && step.result !== null;
  const result = step.sensitive ? "  (sensitive, not shown)" : isTold ? `  ${shortValue(step.result)}` : "";
  return [stepMark(status), ` ${stepKey}`, took, result];
}

function eventHappening(event: WireEvent, indexes: ReadonlyMap<string, number>): Happening {
  const { type, topic, payload, createdAt, consumedByStepKey } = event;
  const index = consumedByStepKey === null ? undefined : indexes.get(consumedByStepKey);
  const name = topic === null ? `event ${type}` : `topic ${topic}`;
  const taken = consumedByStepKey === null ? "  (not taken)" : `  (taken by ${consumedByStepKey})`;
  const value = payload === undefined || payload === null ? "" : `  ${shortValue(payload)}`;
  return {
    at: createdAt,
    // Before the end of the step that took it.
    order: index === undefined ? -1 : 2 * index + 0.6,
    pieces: [painted("magenta", "→"), ` ${name}`, value, painted("dim", taken)],
  };
}

function logHappening(line: WireLogLine, indexes: ReadonlyMap<string, number>): Happening {
  const index = line.stepKey === null ? undefined : indexes.get(line.stepKey);
  const order = index === undefined ? Number.POSITIVE_INFINITY : 2 * index + 0.4;
  if (line.category === "operator") {
    return { at: line.createdAt, order, pieces: [painted("cyan", "◆"), ` ${line.message}`] };
  }
  return { at: line.createdAt, order, pieces: ["  ", ...logPieces(line)] };
}
