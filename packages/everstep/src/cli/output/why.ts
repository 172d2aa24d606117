/** One answer to "why is this instance not moving?", what to do about it, and the command that does it. */
import type { WireWhy } from "../../wire/index.ts";
import { nameOf } from "../instance-of.ts";
import type { Output } from "./output.ts";
import { painted } from "./paint.ts";
import { relativeTime } from "./time.ts";

export function writeWhy(
  { reason, answer, advice, mayRetry, waitsFor, lastAction, warnings = [] }: WireWhy,
  instance: Parameters<typeof nameOf>[0],
  now: number,
  out: Output,
): void {
  out.line(answer);
  if (lastAction && !isSaid.has(reason)) {
    out.line(painted("dim", `${lastAction.text.replace(/\.$/, "")}, ${relativeTime(lastAction.at, now)}.`));
  }
  if (advice !== null) out.line(painted("yellow", advice));
  for (const warning of warnings) out.line(painted("yellow", `! ${warning}`));
  const verb = reason === "errored" && mayRetry === false ? "instances restart *" : verbs[reason];
  if (verb === undefined) return;
  const words = {
    "*": nameOf(instance),
    TYPE: shellWord(waitsFor?.eventType),
    TOPIC: shellWord(waitsFor?.topic),
  };
  const line = verb.replace(/\*|TYPE|TOPIC/g, (word) => words[word as keyof typeof words]);
  out.line(painted("dim", `  everstep ${line}`));
}

/** Where the answer names who did it. */
const isSaid: ReadonlySet<string> = new Set(["paused", "terminated"]);

const verbs: Readonly<Record<string, string>> = {
  errored: "instances retry *",
  paused: "instances resume *",
  sleeping: "instances skip-sleep *",
  "waiting-for-event": "instances send-event * TYPE",
  "waiting-for-topic": "emit TOPIC",
};

/** As a shell takes it for one word. */
function shellWord(text = ""): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
