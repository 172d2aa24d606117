/** What one process tells the others: a short text of constant size on one fixed channel. */
import type { Nudge } from "../../store/store.ts";

export const channel = "everstep";

/** Nobody's number: what a caller's transaction tells is news to everybody, its own process included. */
export const nobody = 0;

export interface Told {
  readonly namespace: string;
  readonly sender: number;
  readonly nudge: Nudge;
}

export function nudgeText({ namespace, sender, nudge }: Told): string {
  const kinds = `${nudge.due ? "d" : "-"}${nudge.changed ? "c" : "-"}${nudge.ended ? "e" : "-"}`;
  return `${namespace} ${sender} ${kinds}`;
}

/** Undefined for what is no nudge: others may use the channel too. */
export function readNudge(text: string): Told | undefined {
  const found = /^([a-z0-9_]+) (\d{1,16}) ([d-])([c-])([e-])$/.exec(text);
  if (found === null) return undefined;
  const [, namespace = "", sender, due, changed, ended] = found;
  const nudge = { due: due === "d", changed: changed === "c", ended: ended === "e" };
  return { namespace, sender: Number(sender), nudge };
}
