import type { InstanceStatus } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import { lanes } from "../../store/apply/lane.ts";
import { firstClaim } from "../../store/first-claim.ts";
import type { CreateOutcome, CreateRequest } from "../../store/store.ts";
import { instanceColumns, instanceValues } from "../sql/instance-row.ts";
import type { Connection } from "./connection.ts";
import type { HotRows } from "./hot-row.ts";
import type { RunIds } from "./run-ids.ts";
import type { Steps } from "./steps.ts";

export type Create = (request: CreateRequest, now: number) => CreateOutcome;

export function creates({ db, names }: Connection, hot: HotRows, ids: RunIds, steps: Steps): Create {
  const insertInstance = db.prepare(
    `INSERT INTO ${names.instance} (${instanceColumns.join(", ")}) VALUES (${instanceColumns.map(() => "?").join(", ")})
     ON CONFLICT (workflow, instance_id) DO NOTHING`,
  );
  const insertRun = db.prepare(
    `INSERT INTO ${names.run} (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, owner, token,
       recorded, created_at, started_at, updated_at)
     VALUES (?, ?, ?, 1, 1, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  return (request, now) => {
    const run = ids.take();
    const { workflowName, lease, history } = request;
    const { changes } = insertInstance.run(...instanceValues(run, run, request));
    if (changes === 0) return existing(hot, request);

    const recorded = history.length > 0 ? 1 : 0;
    const { createdAt, dueAt } = request;
    if (lease === null) {
      insertRun.run(
        run,
        run,
        workflowName,
        "run",
        lanes.starting,
        dueAt,
        null,
        0,
        recorded,
        createdAt,
        null,
        now,
      );
    } else {
      const { owner, token, until } = lease;
      insertRun.run(
        run,
        run,
        workflowName,
        "resume",
        lanes.held,
        until,
        owner,
        token,
        recorded,
        createdAt,
        now,
        now,
      );
    }
    putAll(steps, run, history);
    return {
      kind: "created",
      runId: run,
      claim: firstClaim(request, run, now),
    };
  };
}

export function putAll(steps: Steps, run: number, history: readonly StepRecord[]): void {
  for (const step of history) steps.put(run, step);
}

function existing(hot: HotRows, { workflowName, instanceId }: CreateRequest): CreateOutcome {
  const row = hot.byName(workflowName, instanceId);
  return { kind: "exists", status: row?.status as InstanceStatus, runNumber: row?.runNumber as number };
}
