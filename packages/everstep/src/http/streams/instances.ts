import type { Call } from "../route.ts";
import { briefly, instanceWithMeta, pageEnd, workflowOf } from "../routes/shared.ts";
import { streamSnapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

/** A page of a list, of one workflow or of all, and again whenever something in it changed. */
export function streamInstances(call: Call, streams: Streams): Promise<Response> {
  const { app, path, query } = call;
  const { include: _, brief, ...options } = query;
  const lists = path.workflowName === undefined ? app : workflowOf(call);
  return streamSnapshots(call, streams, "instances", async () => {
    const page = await lists.list(options);
    const items = page.items.map(instanceWithMeta);
    return { instances: brief ? items.map(briefly) : items, ...pageEnd(page) };
  });
}
