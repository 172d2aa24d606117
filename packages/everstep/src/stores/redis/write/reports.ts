/** What was answered to requests that have ids of their own, as it is kept for whoever asks again. */
import type { Publication } from "../../../store/apply/working-set.ts";
import type { ChangeOutcome } from "../../../store/store.ts";
import { integer, text } from "../reply.ts";
import { statusOr } from "./run-fields.ts";

export function publicationText({ waiters, runIds }: Publication): string {
  return `${waiters}:${runIds.join(",")}`;
}

export function readPublication(report: string): Publication {
  const [waiters, runIds = ""] = report.split(":");
  return {
    waiters: integer(waiters),
    runIds: runIds === "" ? [] : runIds.split(",").map((runId) => integer(runId)),
  };
}

export function changeText({ runId, status, runNumber, leased }: Changed): string {
  return `${runId} ${status} ${runNumber} ${leased ? "1" : "0"}`;
}

export function readChange(report: string): ChangeOutcome {
  const [runId, status, runNumber, leased] = text(report).split(" ");
  return {
    kind: "changed",
    runId: integer(runId),
    status: statusOr(status),
    runNumber: integer(runNumber),
    leased: leased === "1",
  };
}

export type Changed = ChangeOutcome & { readonly kind: "changed" };
