/**
 * No body begins long after the operator was told that the instance is paused or terminated. Not at once: a commit that
 * was made before may still be on its way to a runner that will then begin what it allows, as long as its lease lasts.
 */
import type { Evidence } from "../evidence.ts";
import type { BeginLine } from "../ledger.ts";
import { wasAway } from "./gaps.ts";

export function auditSteering(evidence: Evidence): string[] {
  const begins = evidence.ledger.filter((line) => line.kind === "begin");
  return [...auditPauses(evidence, begins), ...auditTerminations(evidence, begins)];
}

function auditPauses(evidence: Evidence, begins: readonly BeginLine[]): string[] {
  const { decisions } = evidence.receipts;
  return decisions
    .filter(({ kind, answer }) => kind === "pause" && answer === "acknowledged")
    .flatMap(({ journey, reason, askedAt, answeredAt }) => {
      const from = answeredAt + evidence.leaseMs;
      // Whatever was decided next, known or not, may have set it going again.
      const next = decisions.filter((each) => each.journey === journey && each.askedAt >= answeredAt);
      // What was decided while the pause was on its way may have come after it, though it was answered before.
      const concurrent = decisions.some(
        (each) =>
          each.journey === journey &&
          each.reason !== reason &&
          each.askedAt < answeredAt &&
          each.answeredAt > askedAt,
      );
      const to = Math.min(...next.map(({ askedAt }) => askedAt));
      if (concurrent) return [];
      return begins
        .filter(({ body, at }) => body.startsWith(`journey/${journey}/`) && at > from && at < to)
        .filter(({ pid, at }) => !wasAway(pid, answeredAt, at, evidence))
        .map(({ body, at }) => `${body} began ${(at - answeredAt).toFixed(0)} ms after a pause`);
    });
}

function auditTerminations(evidence: Evidence, begins: readonly BeginLine[]): string[] {
  const reasons = new Map(evidence.receipts.decisions.map((decision) => [decision.reason, decision]));
  return evidence.journeys.flatMap(({ id, runs }) =>
    runs.flatMap(({ runNumber, terminationMessage }) => {
      const decision = reasons.get(terminationMessage ?? "");
      if (decision?.answer !== "acknowledged") return [];
      const { answeredAt } = decision;
      return begins
        .filter(
          ({ body, at }) =>
            body.startsWith(`journey/${id}/${runNumber}/`) && at > answeredAt + evidence.leaseMs,
        )
        .filter(({ pid, at }) => !wasAway(pid, answeredAt, at, evidence))
        .map(({ body, at }) => `${body} began ${(at - answeredAt).toFixed(0)} ms after its end`);
    }),
  );
}
