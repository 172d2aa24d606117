import type { Claim, ReturnedLease } from "../../../model/lease.ts";
import { givenBack, leased } from "../../../store/apply/moves.ts";
import type { ClaimRequest, RenewAnswer, Renewal } from "../../../store/store.ts";
import { runName } from "../records/place.ts";
import { begunText, fieldsOf, laneName, readBegunIfSound } from "../records/run-fields.ts";
import { claimScript, releaseScript, renewScript } from "../scripts/index.ts";
import {
  Arguments,
  integer,
  integerOrNull,
  list,
  type Reply,
  text,
  textOrNull,
} from "../server/script-values.ts";
import type { Session } from "../server/session.ts";

// A claim moves damaged runs aside, beside those it hands out, but never so many that others wait for it.
const damagedMax = 500;

export async function claim(session: Session, request: ClaimRequest): Promise<readonly Claim[]> {
  const { owner, token, now, leaseUntil, workflows, excusedFrom } = request;
  const limit = Math.min(request.limit, 10_000);
  if (!(limit > 0) || workflows.length === 0) return [];
  const args = new Arguments().add(owner, now, leaseUntil, limit, limit + damagedMax).number(excusedFrom);
  // When it started is not known here.
  const { startedAt: _unknown, ...fields } = fieldsOf(
    leased({ startedAt: null }, { owner, token, until: leaseUntil }, now),
  );
  const entries = Object.entries(fields) as [string, string | null][];
  args.each(
    entries.flatMap(([name, value]) => (value === null ? [] : [name, value])),
    (each) => args.add(each),
  );
  args.each(
    entries.flatMap(([name, value]) => (value === null ? [name] : [])),
    (name) => args.add(name),
  );
  args.each(workflows, ({ name, concurrency }) => args.add(name).number(concurrency));
  const claims = list(await session.write(claimScript, args.list, (reply) => list(reply).length > 0));
  return claims.map((reply) => readClaim(list(reply), request));
}

function readClaim(reply: readonly Reply[], { owner, token, leaseUntil }: ClaimRequest): Claim {
  const [
    runId,
    workflowName,
    instanceId,
    leftToken,
    runNumber,
    params,
    marks,
    createdAt,
    startedAt,
    deadlineAt,
  ] = reply;
  const [waitingSince, fresh, eventSeq, begun, crashCount, commit, ranOut] = reply.slice(10);
  const bodies = readBegunIfSound(textOrNull(begun));
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    lease: { runId: integer(runId), token, owner, expiresAt: leaseUntil },
    runNumber: integer(runNumber),
    params: { json: text(params), marks: textOrNull(marks) },
    createdAt: integer(createdAt),
    startedAt: integer(startedAt),
    deadlineAt: integerOrNull(deadlineAt),
    waitingSince: integerOrNull(waitingSince),
    // One that is damaged is not fresh: whoever reads its history is told so, and the instance ends with the reason.
    fresh: bodies !== undefined && fresh === "1",
    eventSeq: integer(eventSeq),
    begun: bodies ?? [],
    crashCount: integer(crashCount),
    left: { token: integer(leftToken), commit: integer(commit), ranOut: ranOut === "1" },
  };
}

export async function renew(
  session: Session,
  renewals: readonly Renewal[],
  until: number,
  signal: AbortSignal | undefined,
): Promise<readonly RenewAnswer[]> {
  const args = new Arguments().add(until);
  args.each(renewals, ({ lease, begun, commit, applied = 0 }) =>
    args.add(runName(lease.runId), lease.token, begunText(begun), commit ?? "", applied),
  );
  return list(await session.run(renewScript, args.list, "writing", "renewal", signal)).map(readAnswer);
}

function readAnswer(reply: Reply): RenewAnswer {
  const [kind, eventSeq, paused] = list(reply);
  return kind === "renewed"
    ? { kind, eventSeq: integer(eventSeq), paused: paused === "1" }
    : { kind: "lost" };
}

export async function release(
  session: Session,
  leases: readonly ReturnedLease[],
  now: number,
): Promise<void> {
  const args = new Arguments().add(now);
  args.each(leases, ({ runId, token, retryAt }) => {
    const back =
      retryAt === undefined ? givenBack("active", "resume", now) : givenBack("active", "retry", retryAt);
    args.add(runName(runId), token, laneName(back.lane as number), back.kind, back.dueAt);
  });
  await session.run(releaseScript, args.list, "writing", "renewal");
}
