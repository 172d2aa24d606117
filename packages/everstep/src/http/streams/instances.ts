import type { Call } from "../route.ts";
import { instanceWithMeta, pageEnd, workflowOf } from "../routes/shared.ts";
import { streamSnapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

/** A page of a list, of one workflow or of all, and again whenever something in it changed. */
export function streamInstances(call: Call, streams: Streams): Promise<Response> {
  const { app, path, query } = call;
  const { include: _, ...options } = query;
  const lists = path.workflowName === undefined ? app : workflowOf(call);
  return streamSnapshots(call, streams, "instances", async () => {
    const page = await lists.list(options);
    return { instances: page.items.map(instanceWithMeta), ...pageEnd(page) };
  });
}
