import type { PhaseKind } from "./phases.ts";

/** What the instance was at, in words. */
export const phaseWords: Readonly<Record<PhaseKind, { readonly name: string; readonly about: string }>> = {
  earlier: { name: "before this run", about: "Steps taken over from an earlier run or another instance." },
  work: { name: "at work", about: "At least one body ran." },
  failed: { name: "failed attempts", about: "Bodies ran, and every one of these attempts failed." },
  errored: {
    name: "errored, until it was retried",
    about: "A step had failed for good, and nobody had retried it yet.",
  },
  retry: { name: "waiting for retries", about: "No body ran, and a failed one waited for its next attempt." },
  sleep: { name: "sleeping", about: "No body ran, and a sleep went on." },
  event: { name: "waiting for events", about: "No body ran, and an event was waited for." },
  scheduled: { name: "scheduled", about: "Its start was still to come." },
  queued: { name: "queued", about: "It was due, and no runner had taken it." },
  paused: { name: "paused", about: "Somebody has paused it." },
  lost: {
    name: "lost to a crash",
    about: "A crash cut a body off; this is the time until it began again, its work for nothing included.",
  },
  between: {
    name: "between steps",
    about: "No step ran or waited: records were written, or code outside of steps ran.",
  },
};
