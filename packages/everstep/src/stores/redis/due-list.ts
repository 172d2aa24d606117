import { taskKinds } from "../../model/task.ts";
import type { DueQuery, DueRun } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { integer, list, type Reply, text } from "./reply.ts";
import { listDueScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";

export async function listDue(session: Session, { before, limit }: DueQuery): Promise<readonly DueRun[]> {
  const args = new Arguments().add(before, limit);
  const rows = list(await session.run(listDueScript, args.list, "reading"));
  return rows.map((row) => readDue(list(row)));
}

function readDue([workflowName, instanceId, runNumber, kind, dueAt]: readonly Reply[]): DueRun {
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    runNumber: integer(runNumber),
    // A word that nobody knows must not hide what else is due.
    kind: taskKinds.find((known) => known === kind) ?? "resume",
    dueAt: integer(dueAt),
  };
}
