import type { Live } from "./live.ts";
import { RunTimeline } from "./run-timeline.tsx";

export function TimelineTab({ live }: { readonly live: Live }) {
  const { steps, running, meta, details } = live.value;
  return <RunTimeline live={live} run={{ steps, running, meta, status: details.status }} />;
}
