/** Instances as rows. */
import type { WireInstance, WireMeta } from "../../wire/index.ts";
import { type KnownWait, waitWords } from "../../words/index.ts";
import type { Output } from "./output.ts";
import { statusCell } from "./status.ts";
import { type Cell, writeTable } from "./table.ts";
import { relativeTime, whenDue } from "./time.ts";
import { errorText } from "./value.ts";

export type ListedInstance = WireInstance & { readonly meta?: WireMeta };

export function writeInstanceTable(
  instances: readonly ListedInstance[],
  now: number,
  out: Output,
  waits: ReadonlyMap<ListedInstance, KnownWait> = new Map(),
): void {
  writeTable(
    [
      // Names are never cut short: they are copied into the next command.
      { title: "workflow" },
      { title: "id" },
      { title: "status" },
      { title: "run", align: "right" },
      { title: "created" },
      { title: "updated" },
      { title: "note", shrinks: true },
    ],
    instances.map((instance) => rowOf(instance, now, waits.get(instance))),
    out,
  );
}

function rowOf(
  { id, details, meta }: ListedInstance,
  now: number,
  wait: KnownWait | undefined,
): readonly Cell[] {
  const time = (iso: string | undefined): Cell => ({ text: iso === undefined ? "" : relativeTime(iso, now) });
  return [
    { text: meta?.workflowName ?? "" },
    { text: id },
    statusCell(details.status),
    { text: meta === undefined ? "" : String(meta.runNumber) },
    time(meta?.createdAt),
    time(meta?.updatedAt),
    noteOf({ id, details, ...(meta === undefined ? {} : { meta }) }, now, wait),
  ];
}

/** The one thing about it that is worth a word. */
function noteOf({ details, meta }: ListedInstance, now: number, wait: KnownWait | undefined): Cell {
  if (details.error !== undefined) {
    const text = errorText(details.error);
    return { text: meta?.deadLetter ? `dead letter: ${text}` : text, style: "red" };
  }
  if (meta?.terminationReason?.message) return { text: meta.terminationReason.message, style: "dim" };
  if (meta?.queued) return { text: "due, no runner has taken it", style: "yellow" };
  const when = meta?.dueAt ? whenDue(meta.dueAt, now) : null;
  if (details.status === "waiting") return { text: waitWords(wait, when), style: "dim" };
  if (details.status === "active" && meta?.startedAt === null && when !== null)
    return { text: `starts ${when}`, style: "dim" };
  return { text: "" };
}
