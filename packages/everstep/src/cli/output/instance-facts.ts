/** What there is to say about one instance, without its steps. */
import type { WireError, WireInstance, WireMeta, WireRef } from "../../wire/index.ts";
import { type KnownWait, ownFrame, waitKindOf, whenOver } from "../../words/index.ts";
import type { Output, Piece } from "./output.ts";
import { painted } from "./paint.ts";
import { statusStyle } from "./status.ts";
import { absoluteTime, durationBetween, relativeTime, spokenDuration } from "./time.ts";
import { errorText, valueLines } from "./value.ts";

type Fact = readonly [name: string, ...pieces: readonly Piece[]];

type Shown = WireInstance & { readonly meta: WireMeta };

/** `wait` is what it waits for, where somebody has asked. */
export function writeInstance(
  { id, details, meta }: Shown,
  full: boolean,
  now: number,
  out: Output,
  wait?: KnownWait,
): void {
  out.line(
    painted("bold", `${meta.workflowName} ${id}`),
    "  ",
    painted(statusStyle(details.status), details.status),
  );
  const others = full ? moreFacts(meta, now) : thrownFacts(details.error);
  writeFacts([...timeFacts(meta, now, wait), ...otherFacts(meta), ...others], out);
  if (!full) return;
  if (details.error !== undefined) {
    out.line();
    out.line(painted("red", errorText(details.error)));
    writeIndented(details.error.stack?.split("\n").slice(1) ?? [], out);
  }
  writeValue("Params", meta.params, out);
  if (details.status === "complete") writeValue("Output", details.output, out);
}

/** One per line, their names in a column. */
function writeFacts(facts: readonly Fact[], out: Output): void {
  const width = Math.max(0, ...facts.map(([name]) => name.length));
  for (const [name, ...pieces] of facts) out.line("  ", painted("dim", name.padEnd(width)), "  ", ...pieces);
}

/** Where the author's code threw it; the whole stack is for who wants to see everything. */
function thrownFacts(error: WireError | undefined): readonly Fact[] {
  const frame = ownFrame(error?.stack);
  return frame === null ? [] : [["thrown", frame]];
}

function timeFacts(meta: WireMeta, now: number, wait: KnownWait | undefined): readonly Fact[] {
  const time = (name: string, iso: string | null): readonly Fact[] =>
    iso === null ? [] : [[name, `${relativeTime(iso, now)} (${absoluteTime(iso)})`]];
  const { startedAt, completedAt } = meta;
  const took =
    startedAt !== null && completedAt !== null ? durationBetween(startedAt, completedAt) : undefined;
  return [
    ["run", String(meta.runNumber)],
    ...time("created", meta.createdAt),
    ...time("started", startedAt),
    ...time("updated", meta.updatedAt),
    ...time("ended", completedAt),
    ...(took === undefined ? [] : [["took", spokenDuration(took)] as const]),
    // While a runner is at it, that is the end of its lease: nothing that happens to the instance.
    ...(completedAt === null && !meta.executing ? time(dueWord(meta, wait), meta.dueAt) : []),
    ...time("deadline", meta.deadlineAt),
  ];
}

function dueWord({ startedAt }: WireMeta, wait: KnownWait | undefined): string {
  if (startedAt === null) return "starts";
  return wait?.waitsFor ? whenOver[waitKindOf(wait)] : "due";
}

function otherFacts({ deadLetter, parent, terminationReason }: WireMeta): readonly Fact[] {
  return [
    ...(deadLetter ? [["dead letter", painted("red", "yes: the engine gave up on it")] as const] : []),
    ...(parent === null ? [] : [["parent", refText(parent)] as const]),
    ...(terminationReason === null ? [] : [["terminated", reasonText(terminationReason)] as const]),
  ];
}

function moreFacts(meta: WireMeta, now: number): readonly Fact[] {
  const { retentionUntil } = meta;
  return [
    ["executing", meta.executing ? "yes" : "no"],
    ["queued", meta.queued ? "yes" : "no"],
    [
      "kept until",
      retentionUntil === null
        ? "forever"
        : `${absoluteTime(retentionUntil)} (${relativeTime(retentionUntil, now)})`,
    ],
  ];
}

function refText({ workflowName, instanceId }: WireRef): string {
  return `${workflowName} ${instanceId}`;
}

function reasonText({ source, message, by }: NonNullable<WireMeta["terminationReason"]>): string {
  const who = by ?? source;
  return message === null ? `by ${who}` : `by ${who}: ${message}`;
}

export function writeValue(title: string, value: unknown, out: Output): void {
  out.line();
  out.line(painted("bold", title));
  writeIndented(valueLines(value), out);
}

function writeIndented(lines: readonly string[], out: Output): void {
  for (const line of lines) out.line("  ", line);
}
