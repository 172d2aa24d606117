/** What was done to an instance, and by whom, as a line of its log: written with the change itself, so both are there or neither. */
import { encodeValue } from "../authoring/codec.ts";
import { EverstepError } from "../model/error.ts";
import { type LogLine, operatorCategory } from "../model/log-line.ts";

/** The action as the HTTP API calls it, and what was done. */
const said = {
  pause: ["pause", "Paused"],
  resume: ["resume", "Resumed"],
  terminate: ["terminate", "Terminated"],
  restart: ["restart", "Restarted"],
  retryStep: ["retryFailedStep", "Retried"],
  skipSleep: ["skipSleep", "Sleep skipped"],
} as const;

/** Also where nobody knows who it was: the last action that is told must be the last one there was. */
export function operatorLine(kind: keyof typeof said, actor: string | undefined, now: number): LogLine {
  const by = checkActor(actor);
  const [action, done] = said[kind];
  return {
    stepKey: null,
    attempt: null,
    level: "info",
    category: operatorCategory,
    message: by === undefined ? `${done}.` : `${done} by ${by}.`,
    data: encodeValue({ action, actor: by ?? null }, "log data"),
    isReplay: false,
    createdAt: now,
  };
}

const actorMax = 200;

/** Cut where it is long, undefined where there is none. */
export function checkActor(actor: unknown): string | undefined {
  if (actor === undefined || actor === null || actor === "") return undefined;
  if (typeof actor === "string") return [...actor.slice(0, actorMax * 2)].slice(0, actorMax).join("");
  throw new EverstepError("INVALID_ARGUMENT", `The actor is text, not a ${typeof actor}.`);
}
