/** What the outcome of a write leaves open about who wants a turn now, and how the store is asked for it. */
import { type InstanceRef, isTerminal } from "../model/instance.ts";
import type { StoreOutcome, StoreRequest } from "../model/request.ts";
import type { Store } from "../store/store.ts";
import { eventReason, hintOf, type WakeHint, type WakeReason } from "./hints.ts";

export type HintQuestion =
  /** Does this instance want a turn? With `later`, also one that is not due yet counts. */
  | {
      readonly kind: "instance";
      readonly ref: InstanceRef;
      readonly reason: WakeReason;
      readonly later: boolean;
    }
  /** Who waited on this topic and is due now? */
  | { readonly kind: "topic"; readonly topic: string };

export interface WriteFacts {
  /** Whose run it was about. */
  readonly of?: InstanceRef | undefined;
  /** A try before the last one may have taken effect: what looks like a repeat may be this write's own doing. */
  readonly uncertain: boolean;
}

/** None for nearly every write. */
export function questionsOf(
  request: StoreRequest,
  outcome: StoreOutcome,
  { of, uncertain }: WriteFacts,
): readonly HintQuestion[] {
  switch (request.kind) {
    case "publish": {
      if (outcome.kind !== "published" || outcome.waiters === 0) return none;
      return outcome.duplicate && !uncertain ? none : [{ kind: "topic", topic: request.topic }];
    }
    case "commit": {
      if (outcome.kind !== "committed" && outcome.kind !== "paused") return none;
      const questions = request.alongside.flatMap((sent) =>
        sent.kind === "sendEvent" ? [isDue(sent, "event")] : [],
      );
      // That an event was there already is answered only the first time.
      const suspends = request.boundary.next.kind === "suspend" && outcome.kind === "committed";
      return uncertain && suspends && of ? [...questions, isDue(of, "event")] : questions;
    }
    case "sendEvent":
      return uncertain && outcome.kind === "accepted" && outcome.duplicate
        ? [isDue(request, eventReason(request))]
        : none;
    case "create":
      return uncertain && outcome.kind === "exists"
        ? [{ kind: "instance", ref: refOf(request), reason: "create", later: true }]
        : none;
    default:
      return none;
  }
}

const none: readonly HintQuestion[] = [];

function isDue(ref: InstanceRef, reason: WakeReason): HintQuestion {
  return { kind: "instance", ref: refOf(ref), reason, later: false };
}

function refOf({ workflowName, instanceId }: InstanceRef): InstanceRef {
  return { workflowName, instanceId };
}

export type QuestionReads = Pick<Store, "getInstance" | "getStatuses" | "listWaiters">;

/** How many waiters are looked at at once. */
const waitersPage = 100;

export async function* answersTo(
  question: HintQuestion,
  reads: QuestionReads,
  now: () => number,
): AsyncGenerator<WakeHint> {
  if (question.kind === "topic") yield* wokenOn(question.topic, reads, now);
  else yield* wantsTurn(question, reads, now);
}

async function* wantsTurn(
  { ref, reason, later }: Extract<HintQuestion, { kind: "instance" }>,
  reads: QuestionReads,
  now: () => number,
): AsyncGenerator<WakeHint> {
  const found = await reads.getInstance(ref);
  if (!found || found.executing || found.dueAt === null) return;
  if (found.status === "paused" || isTerminal(found.status)) return;
  if (later || found.dueAt <= now()) yield hintOf(ref, reason, now(), found.dueAt);
}

/**
 * A wait stays registered until a turn takes its event. So whoever was woken is still on the list, and `waiting`; who is
 * not has his turn already, or was in one. One who came to wait after the publication may be among them: a hint too many.
 */
async function* wokenOn(topic: string, reads: QuestionReads, now: () => number): AsyncGenerator<WakeHint> {
  const told = new Set<string>();
  let after: string | undefined;
  do {
    const page = await reads.listWaiters(topic, {
      limit: waitersPage,
      ...(after === undefined ? {} : { after }),
    });
    const statuses = await reads.getStatuses(page.items);
    for (const [at, ref] of page.items.entries()) {
      const name = `${ref.workflowName}/${ref.instanceId}`;
      if (statuses[at] !== "waiting" || told.has(name)) continue;
      told.add(name);
      yield hintOf(ref, "event", now());
    }
    after = page.after;
  } while (after !== undefined);
}
