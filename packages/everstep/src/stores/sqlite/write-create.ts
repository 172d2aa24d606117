import type { InstanceStatus } from "../../model/instance.ts";
import type { Claim } from "../../model/lease.ts";
import type { StepRecord } from "../../model/step.ts";
import type { CreateOutcome, CreateRequest } from "../../store/store.ts";
import { lanes } from "../sql/lane.ts";
import type { Connection } from "./connection.ts";
import type { HotRows } from "./hot-row.ts";
import type { RunIds } from "./run-ids.ts";
import type { Steps } from "./steps.ts";

export type Create = (request: CreateRequest, now: number) => CreateOutcome;

export function creates({ db, names }: Connection, hot: HotRows, ids: RunIds, steps: Steps): Create {
  const insertInstance = db.prepare(
    `INSERT INTO ${names.instance} (id, workflow, instance_id, run, created_at, deadline_at, retention_ms,
       parent_workflow, parent_instance, params, params_marks)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (workflow, instance_id) DO NOTHING`,
  );
  const insertRun = db.prepare(
    `INSERT INTO ${names.run} (id, instance, workflow, run_number, is_current, status, kind, lane, due_at, owner, token,
       recorded, created_at, started_at, updated_at)
     VALUES (?, ?, ?, 1, 1, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  return (request, now) => {
    const run = ids.take();
    const { workflowName, instanceId, params, parent, lease, history } = request;
    const { changes } = insertInstance.run(
      run,
      workflowName,
      instanceId,
      run,
      request.createdAt,
      request.deadlineAt,
      request.retentionMs,
      parent === null ? null : parent.workflowName,
      parent === null ? null : parent.instanceId,
      params.json,
      params.marks,
    );
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
      const { owner, until } = lease;
      insertRun.run(
        run,
        run,
        workflowName,
        "resume",
        lanes.held,
        until,
        owner,
        1,
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
      claim: lease === null ? null : firstClaim(request, run, lease, now),
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

function firstClaim(
  request: CreateRequest,
  runId: number,
  lease: NonNullable<CreateRequest["lease"]>,
  now: number,
): Claim {
  return {
    workflowName: request.workflowName,
    instanceId: request.instanceId,
    lease: { runId, token: 1, owner: lease.owner, expiresAt: lease.until },
    runNumber: 1,
    params: request.params,
    createdAt: request.createdAt,
    startedAt: now,
    deadlineAt: request.deadlineAt,
    waitingSince: null,
    fresh: request.history.length === 0,
    eventSeq: 0,
    begun: [],
    crashCount: 0,
  };
}
