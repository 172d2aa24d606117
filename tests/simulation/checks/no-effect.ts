/**
 * What was refused, or had taken effect before, changes nothing at all: no step, no event, no time, no log line (INV-2,
 * INV-42); and a commit that does take effect needs the lease it names (INV-2, INV-4).
 */
import type { InstanceRecord, RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Lease } from "../../../packages/everstep/src/model/lease.ts";
import type {
  CommitRequest,
  RenewAnswer,
  Renewal,
  Store,
} from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { refill } from "../../../packages/everstep/src/testing/simulate/refill.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { differing, same } from "../../../packages/everstep/src/verify/same.ts";
import { type Applied, type Check, mayTouch, nameOf, type Seen, type Written } from "./applied.ts";

export class NoEffect implements Check {
  readonly #store: Store;
  /** Log lines of every run, as far as was looked. */
  readonly #lines = new Map<RunId, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  mark(): () => void {
    const lines = new Map(this.#lines);
    return () => refill(this.#lines, lines);
  }

  async applied(applied: Applied): Promise<readonly Finding[]> {
    const findings: Finding[] = [...unheld(applied)];
    for (const seen of applied.runs) if (!isTouched(applied, seen)) findings.push(...changed(seen));
    for (const [runId, lines] of linesOf(applied)) findings.push(...(await this.#logged(runId, lines)));
    return findings;
  }

  /** Lines come with what took effect, once (INV-11). */
  async #logged(runId: RunId, added: number): Promise<readonly Finding[]> {
    const expected = (this.#lines.get(runId) ?? 0) + added;
    const found = await this.#count(runId);
    this.#lines.set(runId, found);
    if (found === expected) return [];
    return [{ invariant: "INV-11", message: `run ${runId} has ${found} log lines instead of ${expected}` }];
  }

  async #count(runId: RunId): Promise<number> {
    let count = 0;
    let after: string | undefined;
    do {
      const page = await this.#store.listLogs(runId, {
        limit: 100,
        ...(after === undefined ? {} : { after }),
      });
      count += page.items.length;
      after = page.after;
    } while (after !== undefined);
    return count;
  }
}

/** Log lines that requests brought, by run; none for those that were refused or repeated. */
function linesOf({ written }: Applied): ReadonlyMap<RunId, number> {
  const lines = new Map<RunId, number>();
  for (const each of written) {
    const runId = loggedRun(each);
    if (runId === undefined) continue;
    const added = each.became === "applied" ? logsOf(each) : 0;
    lines.set(runId, (lines.get(runId) ?? 0) + added);
  }
  return lines;
}

function logsOf({ request }: Written): number {
  if (request.kind === "commit") return request.boundary.logs.length;
  return "logs" in request ? (request.logs?.length ?? 0) : 0;
}

/** Steering is told in the run that is current afterwards, which the answer names. */
function loggedRun({ request, outcome }: Written): RunId | undefined {
  if (request.kind === "commit") return request.lease.runId;
  return outcome.kind === "changed" || outcome.kind === "accepted" ? outcome.runId : undefined;
}

function isTouched({ call, answer, written, before }: Applied, { after }: Seen): boolean {
  const { runId } = after.record;
  switch (call.method) {
    case "write":
      return written.some((each) => mayTouch(each, after));
    case "renew": {
      const answers = answer as readonly RenewAnswer[];
      return (call.args[0] as readonly Renewal[]).some(
        ({ lease }, at) => lease.runId === runId && answers[at]?.kind === "renewed",
      );
    }
    case "release":
      return (call.args[0] as readonly Lease[]).some(
        (lease) => lease.runId === runId && isHeld(before(runId), lease),
      );
    default:
      return true;
  }
}

function isHeld(facts: RunFacts | undefined, { token }: Lease): boolean {
  return facts?.record.executing === true && facts.record.token === token;
}

function changed({ before, after }: Seen): readonly Finding[] {
  const name = nameOf(after);
  if (before === undefined) return [found(`${name} is there, though nothing took effect`)];
  const findings: Finding[] = [];
  if (!same(before.steps, after.steps)) findings.push(found(`${name} has other steps`));
  if (!same(before.events, after.events)) findings.push(found(`${name} has other events`));
  const names = Object.keys(after.record) as (keyof InstanceRecord)[];
  const different = differing(before.record, after.record, names);
  if (different.length > 0) findings.push(found(`${name} has another ${different.join(", ")}`));
  return findings;
}

function found(message: string): Finding {
  return { invariant: "INV-2", message: `${message} after a call that was refused or repeated` };
}

/** Commits and wakes that took effect under a token that was not in force. */
function* unheld({ written, before }: Applied): Generator<Finding> {
  for (const { request, became } of written) {
    if (became !== "applied") continue;
    if (request.kind === "commit" && isAlone(request, written)) {
      const facts = before(request.lease.runId);
      if (facts === undefined || isHeld(facts, request.lease)) continue;
      const { token, executing } = facts.record;
      yield {
        invariant: "INV-2",
        message: `a commit under token ${request.lease.token} took effect in ${nameOf(facts)}, where ${executing ? "" : "nobody holds "}token ${token} is in force`,
      };
    }
    if (request.kind === "wake") {
      const facts = before(request.runId);
      if (facts === undefined || facts.record.token === request.token) continue;
      yield {
        invariant: "INV-2",
        message: `a wake under token ${request.token} took effect in ${nameOf(facts)}, whose token is ${facts.record.token}`,
      };
    }
  }
}

/** Nothing else in the same write may have changed its run before it. */
function isAlone(commit: CommitRequest, written: readonly Written[]): boolean {
  return written.every(({ request }) => request === commit || request.kind === "commit");
}
