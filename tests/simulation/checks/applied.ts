/** One call as the store applied it: what became of every request in it, and the runs it touched before and after. */
import type { InstanceRef, RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { StoreOutcome, StoreRequest } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { refill } from "../../../packages/everstep/src/testing/simulate/refill.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";

export interface Applied {
  readonly member: Member;
  readonly call: StoreCall;
  readonly answer: unknown;
  readonly written: readonly Written[];
  /** Runs that were looked at after the call. */
  readonly runs: readonly Seen[];
  /** The last look at any run before this call. */
  readonly before: (runId: RunId) => RunFacts | undefined;
  /** The true time. */
  readonly now: number;
}

export interface Written {
  readonly request: StoreRequest;
  readonly outcome: StoreOutcome;
  /** applied: it took effect now. repeated: it had taken effect before. refused: it never did. */
  readonly became: "applied" | "repeated" | "refused";
  /** The answer it got when it took effect; its own if that was now. */
  readonly first: StoreOutcome;
  /** Something else was asked under the same name before. */
  readonly isAnother: boolean;
}

export interface Seen {
  readonly before: RunFacts | undefined;
  readonly after: RunFacts;
}

/** Something that must hold after every call. What it keeps in mind is its own. */
export interface Check {
  applied(applied: Applied): Iterable<Finding> | Promise<Iterable<Finding>>;
  /** Where it keeps in mind what is in the store: goes back with it. */
  mark?(): () => void;
}

/** Knows of every request that took effect, by what makes it the same when it comes again. */
export class Memory {
  readonly #first = new Map<string, StoreOutcome>();
  /** What commits said, whatever became of them. */
  readonly #said = new Map<string, string>();

  /** What was said stays said. */
  mark(): () => void {
    const first = new Map(this.#first);
    return () => refill(this.#first, first);
  }

  /** What became of each request of a `write`. */
  written(requests: readonly StoreRequest[], outcomes: readonly StoreOutcome[]): readonly Written[] {
    return requests.flatMap((request, at) => {
      const outcome = outcomes[at];
      return outcome === undefined ? [] : [this.#became(request, outcome)];
    });
  }

  #became(request: StoreRequest, outcome: StoreOutcome): Written {
    const id = idOf(request);
    const isAnother = id !== null && this.#isAnother(id, request);
    const first = id === null ? undefined : this.#first.get(id);
    if (first !== undefined) return { request, outcome, became: "repeated", first, isAnother };
    const became = effective.includes(outcome.kind) ? "applied" : "refused";
    if (became === "applied" && id !== null) this.#first.set(id, outcome);
    return { request, outcome, became, first: outcome, isAnother };
  }

  #isAnother(id: string, request: StoreRequest): boolean {
    if (request.kind !== "commit") return false;
    const said = JSON.stringify(request.boundary);
    const before = this.#said.get(id) ?? said;
    this.#said.set(id, before);
    return said !== before;
  }
}

const effective: readonly StoreOutcome["kind"][] = [
  "created",
  "committed",
  "paused",
  "accepted",
  "published",
  "changed",
  "deleted",
  "woken",
  "abandoned",
];

function idOf(request: StoreRequest): string | null {
  switch (request.kind) {
    case "commit": {
      const { lease, boundary } = request;
      return `commit ${lease.runId} ${lease.token} ${boundary.number}`;
    }
    case "sendEvent":
    case "publish":
    case "change":
      return `${request.kind} ${request.id}`;
    case "create":
    case "delete":
    case "wake":
    case "abandon":
      return null;
  }
}

/** What a request that takes effect may change. */
export function mayTouch({ request, outcome, became }: Written, { record }: RunFacts): boolean {
  if (became !== "applied") return false;
  switch (request.kind) {
    case "commit":
      return (
        request.lease.runId === record.runId ||
        request.alongside.some((other) => isOf(record, other)) ||
        (request.announce !== undefined && isOf(record, request.announce))
      );
    case "wake":
      return request.runId === record.runId;
    case "publish":
      return outcome.kind === "published" && outcome.runIds.includes(record.runId);
    case "abandon":
      return true;
    case "change":
      return isOf(record, request) || (request.announce !== undefined && isOf(record, request.announce));
    default:
      return isOf(record, request);
  }
}

export function isOf(a: InstanceRef, b: InstanceRef): boolean {
  return a.workflowName === b.workflowName && a.instanceId === b.instanceId;
}

export function nameOf({ record }: RunFacts): string {
  return `${record.workflowName}/${record.instanceId}/${record.runNumber}`;
}
