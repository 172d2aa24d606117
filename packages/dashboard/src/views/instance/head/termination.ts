import type { WireMeta } from "everstep/client";

type Reason = NonNullable<WireMeta["terminationReason"]>;

const sources: Readonly<Record<Reason["source"], string>> = {
  user: "a person",
  deadline: "its deadline",
  maxRunDuration: "the longest time a run may take",
  maxSuspendDuration: "the longest time it may wait",
  restarted: "a restart",
};

/** Who or what ended it, and what was said about it. */
export function terminationText({ source, message, by }: Reason): string {
  const who = by ?? sources[source];
  return message ? `${who}: ${message}` : who;
}
