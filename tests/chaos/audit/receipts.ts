/** Nothing is lost and nothing is doubled: whatever a client was told has happened has happened once. */
import type { EventView } from "everstep";
import type { Evidence, InstanceEvidence } from "../evidence.ts";
import type { Answer } from "../receipts.ts";

export function auditReceipts(evidence: Evidence): string[] {
  return [
    ...evidence.receipts.absurd,
    ...auditCreations(evidence),
    ...auditLetters(evidence),
    ...auditRefusedRepeats(evidence),
    ...auditPublications(evidence),
    ...auditRestarts(evidence),
    ...auditTerminations(evidence),
  ];
}

function auditCreations({ journeys, receipts }: Evidence): string[] {
  const there = new Set(journeys.map(({ id }) => id));
  const asked = new Set(receipts.creations.map(({ id }) => id));
  return [
    ...receipts.creations
      .filter(({ id, answer }) => answer === "acknowledged" && !there.has(id))
      .map(({ id }) => `${id} was created and is not there`),
    ...journeys.filter(({ id }) => !asked.has(id)).map(({ id }) => `${id} is there and nobody created it`),
    ...(there.size === journeys.length ? [] : ["an id is there twice"]),
  ];
}

function auditLetters({ journeys, receipts }: Evidence): string[] {
  const found = new Map<string, number>();
  for (const event of journeys.flatMap(eventsOf)) {
    if (event.type === "letter") found.set(event.id, (found.get(event.id) ?? 0) + 1);
  }
  const accepted = receipts.letters.filter(({ answer }) => answer === "acknowledged").map(({ id }) => id);
  const asked = new Set(receipts.letters.map(({ id }) => id));
  return [
    ...[...new Set(accepted)].filter((id) => !found.has(id)).map((id) => `${id} was accepted and is gone`),
    ...[...found].filter(([, times]) => times > 1).map(([id, times]) => `${id} is there ${times} times`),
    ...[...found.keys()].filter((id) => !asked.has(id)).map((id) => `${id} is there and nobody sent it`),
  ];
}

/** Only of a letter that was sent twice, and is with a run from before a restart, may anybody hear that its id is used up. */
function auditRefusedRepeats({ journeys, receipts, losses }: Evidence): string[] {
  return receipts.letters
    .filter(({ code }) => code === "IDEMPOTENCY_KEY_CONFLICT")
    .filter((refused) => {
      const isRepeat = receipts.letters.some(
        (other) => other !== refused && other.id === refused.id && other.askedAt <= refused.answeredAt,
      );
      const runs = journeys.find(({ id }) => id === refused.journey)?.runs ?? [];
      const at = runs.findIndex(({ events }) => events.some(({ id }) => id === refused.id));
      const isOfEarlierRun = at >= 0 && at < runs.length - 1;
      const mayBeLost = losses.some(({ from, to }) => refused.answeredAt >= from && refused.askedAt <= to);
      return !isRepeat || !(isOfEarlierRun || mayBeLost);
    })
    .map(
      ({ id, journey }) => `${id} to ${journey} was refused as used up, and is in no run before a restart`,
    );
}

function auditPublications({ journeys, receipts }: Evidence): string[] {
  const reached = new Map<number, number>();
  for (const { topic, payload } of journeys.flatMap(eventsOf)) {
    if (topic === null) continue;
    const { number } = payload as { readonly number: number };
    reached.set(number, (reached.get(number) ?? 0) + 1);
  }
  return receipts.publications
    .filter(
      ({ answer, number, waiters }) => answer === "acknowledged" && (reached.get(number) ?? 0) !== waiters,
    )
    .map(
      ({ id, number, waiters }) =>
        `${id} was said to reach ${waiters} waits and reached ${reached.get(number) ?? 0}`,
    );
}

/** A run for every restart: none is lost, and none is made twice because its answer was. */
function auditRestarts({ journeys, receipts }: Evidence): string[] {
  return journeys.flatMap(({ id, runs }) => {
    const restarts = receipts.decisions.filter(({ kind, journey }) => kind === "restart" && journey === id);
    const count = (answer: Answer): number => restarts.filter((each) => each.answer === answer).length;
    const least = 1 + count("acknowledged");
    const most = least + count("unknown");
    if (runs.length >= least && runs.length <= most) return [];
    return [`${id} has ${runs.length} runs after ${least - 1} to ${most - 1} restarts`];
  });
}

function auditTerminations({ journeys, receipts }: Evidence): string[] {
  const ended = new Map<string, number>();
  for (const { status, terminationMessage } of journeys.flatMap(({ runs }) => runs)) {
    if (status !== "terminated" || terminationMessage === null) continue;
    ended.set(terminationMessage, (ended.get(terminationMessage) ?? 0) + 1);
  }
  return receipts.decisions
    .filter(({ kind, answer, reason }) => {
      const times = ended.get(reason) ?? 0;
      return kind === "terminate" && (times > 1 || (answer === "acknowledged" && times === 0));
    })
    .map(({ journey, reason }) => `${reason} to terminate ${journey} ended ${ended.get(reason) ?? 0} runs`);
}

function eventsOf({ runs }: InstanceEvidence): EventView[] {
  return runs.flatMap(({ events }) => events);
}
