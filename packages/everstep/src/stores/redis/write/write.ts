/**
 * A batch of requests. Those that are as nearly all requests are take the short way, one script for all of them
 * (quick.ts); what that leaves is looked at (look.ts), decided by the state machine, and saved, wholly or not at all, if
 * nothing of what was looked at has changed meanwhile (save.ts). If something has, it is decided again.
 */
import { StoreError } from "../../../model/error.ts";
import { afterPart } from "../../../store/after-part.ts";
import { apply } from "../../../store/apply/apply.ts";
import { passFence } from "../../../store/apply/apply-commit.ts";
import type { AbandonOutcome, CommitRequest, StoreOutcome, StoreRequest } from "../../../store/store.ts";
import { lookScript, quickScript, saveScript } from "../scripts/index.ts";
import { runsAtOnce } from "../scripts/look.lua.ts";
import { integerOrNull, list, type Reply, text } from "../server/script-values.ts";
import type { Session } from "../server/session.ts";
import { busy } from "./busy.ts";
import { lookFor, type Seen } from "./look.ts";
import { nothingRecorded, type Recorded, recordMutations, refusedMutation } from "./mutations.ts";
import { isQuick, quickArguments, quickOutcome } from "./quick.ts";
import { savingOf } from "./save.ts";

export async function write(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
): Promise<readonly StoreOutcome[]> {
  if (requests.length === 0) return [];
  return endRemainingRuns(session, requests, await writeOnce(session, requests, now), now);
}

async function writeOnce(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
): Promise<readonly StoreOutcome[]> {
  const mutations = mutationsOf(requests);
  if (mutations !== null) {
    const recorded = await recordMutations(mutations, session.settings.namespace);
    return writeAtLength(session, requests, now, recorded);
  }
  if (!requests.some(isQuick)) return writeAtLength(session, requests, now);
  const quick = await writeQuickly(session, requests, now);
  const left = requests.filter((_request, n) => quick[n] === null);
  if (left.length === 0) return quick as readonly StoreOutcome[];
  const later = (
    await writeAtLength(session, left, now).catch((error: unknown) => {
      throw left.length < requests.length ? afterPart(error) : error;
    })
  ).values();
  return quick.map((outcome) => outcome ?? (later.next().value as StoreOutcome));
}

/** An author's writes share their transaction with one boundary and nothing else, here as in every store. */
function mutationsOf(requests: readonly StoreRequest[]): CommitRequest["mutations"] {
  const mutations = requests.map((request) => (request.kind === "commit" ? request.mutations : null));
  const found = mutations.find((each) => each !== null) ?? null;
  if (found !== null && requests.length > 1) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations must be the only request of its write.",
    );
  }
  return found;
}

/** Null for those that were left alone. */
async function writeQuickly(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
): Promise<readonly (StoreOutcome | null)[]> {
  const args = quickArguments(requests, now, isWaitedFor(session));
  const isAnyDone = (reply: Reply): boolean => list(reply).some((each) => each !== null);
  const replies = list(await session.write(quickScript, args.list, isAnyDone));
  return requests.map((request, n) => quickOutcome(request, replies[n] as Reply, now));
}

function isWaitedFor({ settings }: Session): boolean {
  return settings.waitReplicas !== null;
}

/** How often a batch is decided before its requests go one by one, and how often one of those before it is refused. */
const attemptsTogether = 5;
const attemptsAlone = 30;

/**
 * Whoever finds that something has changed has lost to somebody who has got on, so there is always one who does. Many
 * requests have more in common with others than one: after a few times they go one by one.
 */
async function writeAtLength(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
  recorded: Recorded = nothingRecorded,
): Promise<readonly StoreOutcome[]> {
  if (requests.length > 1) {
    const outcomes = await decideAndSave(session, requests, now, recorded, attemptsTogether);
    return outcomes ?? writeOneByOne(session, requests, now);
  }
  const outcomes = await decideAndSave(session, requests, now, recorded, attemptsAlone);
  if (outcomes === undefined) throw busy(session);
  return outcomes;
}

/** What an owner has left behind is ended portion by portion; see `runsAtOnce`. */
async function endRemainingRuns(
  session: Session,
  requests: readonly StoreRequest[],
  outcomes: readonly StoreOutcome[],
  now: number,
): Promise<readonly StoreOutcome[]> {
  const all = [...outcomes];
  for (const [n, request] of requests.entries()) {
    if (request.kind !== "abandon" || request.fate.kind !== "error") continue;
    let last = all[n] as AbandonOutcome;
    let runs = last.runs;
    while (last.runs >= runsAtOnce) {
      [last] = (await writeAtLength(session, [request], now).catch((error: unknown) => {
        throw afterPart(error);
      })) as [AbandonOutcome];
      runs += last.runs;
    }
    all[n] = { ...last, runs };
  }
  return all;
}

async function writeOneByOne(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
): Promise<readonly StoreOutcome[]> {
  const outcomes: StoreOutcome[] = [];
  for (const request of requests) {
    const made = await writeOnce(session, [request], now).catch((error: unknown) => {
      throw outcomes.length > 0 ? afterPart(error) : error;
    });
    outcomes.push(...made);
  }
  return outcomes;
}

/** Undefined when what it is about has changed each time. */
async function decideAndSave(
  session: Session,
  requests: readonly StoreRequest[],
  now: number,
  recorded: Recorded,
  attempts: number,
): Promise<readonly StoreOutcome[] | undefined> {
  const look = lookFor(requests);
  const looking = [String(now), String(look.newRuns), seedOf(requests), ...look.args];
  let found = list(await session.run(lookScript, looking, "reading"));
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const [sign, there, firstId] = found;
    const seen = look.read(there as Reply, integerOrNull(firstId) ?? 0);
    const { outcomes, args } = decide(session, seen, requests, now, recorded);
    if (args === null) return outcomes;
    const saving = [...looking, text(sign), ...args];
    const reply = list(await session.write(saveScript, saving, isSaved));
    if (isSaved(reply)) return outcomes;
    const [newSign, refusal] = reply;
    if (newSign === null) return [refusedMutation(recorded, list(refusal).slice(1).map(text))];
    found = reply;
  }
  return undefined;
}

/** Otherwise the script says why not, or what it has found instead. */
function isSaved(reply: Reply): boolean {
  return list(reply).length === 0;
}

/** A text that differs with what is created; see `runIds` in scripts/prelude.lua.ts. */
function seedOf(requests: readonly StoreRequest[]): string {
  const names = requests.map((request) => {
    if (request.kind === "commit") return `${request.lease.token} ${request.boundary.number}`;
    return "instanceId" in request ? `${request.workflowName} ${request.instanceId}` : request.kind;
  });
  return names.join(" ");
}

interface Decided {
  readonly outcomes: readonly StoreOutcome[];
  /** Null when there is nothing to save. */
  readonly args: readonly string[] | null;
}

function decide(
  session: Session,
  seen: Seen,
  requests: readonly StoreRequest[],
  now: number,
  recorded: Recorded,
): Decided {
  const [first] = requests;
  const passes = first?.kind === "commit" && passFence(seen.set, first).kind === "passed";
  // An author's commands are not run for a commit that is lost, or was applied before.
  if (recorded.kind === "thrown" && passes) return { outcomes: [refusedMutation(recorded, [])], args: null };
  const mutations = passes ? recorded : nothingRecorded;
  const outcomes = apply(seen.set, requests, now);
  const saving = savingOf(seen, mutations, now, isWaitedFor(session));
  return { outcomes, args: saving?.list ?? null };
}
