import type { LogsOptions } from "../../handles/options.ts";
import { isTerminal } from "../../model/instance.ts";
import { jsonView } from "../json-view.ts";
import type { Call } from "../route.ts";
import { storedInstanceOf } from "../routes/stored-workflow.ts";
import type { Fill } from "./open-stream.ts";
import type { Streams } from "./streams.ts";

/** Log lines as they are written, from the first of a run or after the last one had, through restarts, to the end. */
export async function streamLogs(call: Call, streams: Streams): Promise<Response> {
  const { level, category, pageSize = 100, runNumber, after: given } = call.query as LogsOptions;
  const { reads } = call.parts;
  const handle = await storedInstanceOf(call);
  const known = call.request.headers.get("last-event-id") || given;
  const filter = { level, category, pageSize, order: "asc" as const };
  const find = async () => {
    await call.parts.ready();
    return reads.getInstance(call.path, runNumber);
  };
  // What is not there is answered as such, not with a stream.
  let run = known ? runOf(known) : (runNumber ?? (await find())?.runNumber ?? 1);
  let after = known;
  await handle.logs({ ...filter, pageSize: 1, ...place(run, after) });
  let hasBegun = known !== undefined;

  const fill: Fill = async (sink) => {
    if (!hasBegun) {
      // Who loses the connection before the first line comes back to the run it was at, even if that is over by then.
      sink.send({ event: "begin", id: `${run}-0`, data: { runNumber: run } });
      hasBegun = true;
    }
    // Asked before the lines are read: what was written before the end is among them.
    const last = await find();
    if (!last) return "over";
    const { items, hasNextPage } = await handle.logs({ ...filter, ...place(run, after) });
    for (const line of items) {
      sink.send({ event: "log", id: line.id, data: jsonView(line) });
      after = line.id;
    }
    if (hasNextPage) return "again";
    if (run < last.runNumber) {
      run += 1;
      after = undefined;
      return "again";
    }
    if (!isTerminal(last.status)) return items.length > 0 ? "news" : "same";
    sink.send({ event: "end", data: { status: last.status } });
    return "over";
  };

  const { workflowName, instanceId } = call.path;
  return streams.open(call.request, {
    client: call.client,
    ref: { workflowName, instanceId },
    fill,
    refusal: call.host.refusal,
  });
}

/** `2-17` is the line with number 17 of run 2; what is no such id is refused when lines are asked for. */
function runOf(lineId: string): number {
  return Number(lineId.split("-")[0]);
}

function place(runNumber: number, after: string | undefined): Pick<LogsOptions, "runNumber" | "after"> {
  return after === undefined ? { runNumber } : { after };
}
