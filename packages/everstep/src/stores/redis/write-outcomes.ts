/** What the write script answers, as outcomes. */
import { type InstanceStatus, instanceStatuses } from "../../model/instance.ts";
import { firstClaim } from "../../store/first-claim.ts";
import type {
  ChangeOutcome,
  CommitOutcome,
  CreateOutcome,
  CreateRequest,
  PublishOutcome,
  SendEventOutcome,
  StoreOutcome,
  StoreRequest,
} from "../../store/store.ts";
import { type Recorded, refusedMutation } from "./recorded.ts";
import { integer, list, type Reply, text, word } from "./reply.ts";

export function readOutcome(
  request: StoreRequest,
  reply: Reply,
  recorded: Recorded,
  now: number,
): StoreOutcome {
  // A plain commit was applied; the number is that of the newest event.
  if (typeof reply === "number") {
    return { kind: "committed", eventSeq: reply, timeoutsRefused: false, dueNow: false };
  }
  const [kind, ...facts] = list(reply).map((each) => String(each));
  switch (request.kind) {
    case "create":
      return readCreated(request, kind, facts, now);
    case "commit":
      return kind === "mutation-failed" ? refusedMutation(recorded, facts) : readCommitted(kind, facts);
    case "sendEvent":
      return readSent(kind, facts);
    case "publish":
      return readPublished(facts);
    case "change":
      return readChanged(kind, facts);
    case "wake":
      return { kind: kind === "woken" ? "woken" : "ignored" };
    case "abandon":
      return { kind: "abandoned", runs: integer(facts[0]) };
  }
}

type Facts = readonly string[];

function readCreated(
  request: CreateRequest,
  kind: string | undefined,
  facts: Facts,
  now: number,
): CreateOutcome {
  if (kind === "exists") return { kind, status: status(facts[0]), runNumber: integer(facts[1]) };
  const runId = integer(facts[0]);
  return { kind: "created", runId, claim: firstClaim(request, runId, now) };
}

function readCommitted(kind: string | undefined, [eventSeq, refused, dueNow]: Facts): CommitOutcome {
  if (kind === "superseded") return { kind };
  const facts = { eventSeq: integer(eventSeq), timeoutsRefused: refused === "1" };
  return kind === "paused" ? { kind, ...facts } : { kind: "committed", ...facts, dueNow: dueNow === "1" };
}

function readSent(kind: string | undefined, facts: Facts): SendEventOutcome {
  switch (kind) {
    case "accepted":
      return {
        kind,
        runId: integer(facts[0]),
        status: status(facts[1]),
        duplicate: facts[2] === "1",
        woke: facts[3] === "1",
        ...(facts[4] === undefined ? {} : { ofEarlierRun: true as const }),
      };
    case "terminal":
      return { kind, status: status(facts[0]) };
    case "buffer-full":
      return { kind };
    default:
      return { kind: "not-found" };
  }
}

function readPublished([report, duplicate]: Facts): PublishOutcome {
  const [waiters, runIds = ""] = text(report).split(":");
  return {
    kind: "published",
    waiters: integer(waiters),
    runIds: runIds === "" ? [] : runIds.split(",").map((runId) => integer(runId)),
    duplicate: duplicate === "1",
  };
}

function readChanged(kind: string | undefined, facts: Facts): ChangeOutcome {
  if (kind === "not-found") return { kind };
  if (kind === "refused") return { kind, status: status(facts[0]), runNumber: integer(facts[1]) };
  const [runId, now, runNumber, leased] = text(facts[0]).split(" ");
  return {
    kind: "changed",
    runId: integer(runId),
    status: status(now),
    runNumber: integer(runNumber),
    leased: leased === "1",
  };
}

function status(value: string | undefined): InstanceStatus {
  return word(value, instanceStatuses);
}
