import { type InstanceWithSteps, stepsAndBodies } from "../../wire/index.ts";
import { jsonOf } from "../json-view.ts";
import type { Call } from "../route.ts";
import { instanceWithMeta } from "../routes/shared.ts";
import { storedInstanceOf } from "../routes/stored-workflow.ts";
import { streamSnapshots } from "./snapshots.ts";
import type { Streams } from "./streams.ts";

/** One instance with its steps. What steps returned is left out: it may be much, and is in the history. */
export async function streamInstance(call: Call, streams: Streams): Promise<Response> {
  const { workflowName, instanceId } = call.path;
  const handle = await storedInstanceOf(call);
  return streamSnapshots(call, streams, {
    event: "instance",
    check: () => handle.status(),
    ref: { workflowName, instanceId },
    async read(): Promise<InstanceWithSteps> {
      const { steps, running, ...details } = await handle.snapshot({ brief: true });
      return { ...instanceWithMeta(details), ...jsonOf(stepsAndBodies, { steps, running }) };
    },
  });
}
