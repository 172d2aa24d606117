import { EverstepError } from "../../model/error.ts";
import type { Call } from "../route.ts";
import { instancesPage } from "../routes/shared.ts";
import { storedWorkflowOf } from "../routes/stored-workflow.ts";
import { streamSnapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

/** A page of a list, of one workflow or of all, and again whenever something in it changed. */
export async function streamInstances(call: Call, streams: Streams): Promise<Response> {
  const { app, path, query } = call;
  const { include: _, brief, ...options } = query;
  if (brief === false) throw alwaysBrief();
  const lists = path.workflowName === undefined ? app : await storedWorkflowOf(call);
  const list = () => lists.list({ ...options, brief: true });
  return streamSnapshots(call, streams, {
    event: "instances",
    check: list,
    read: async () => instancesPage(await list(), true),
  });
}

/** What is sent again and again must not be large. */
function alwaysBrief(): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    "A stream of a list is always brief. Leave brief=false out, and read params and output of single instances.",
  );
}
