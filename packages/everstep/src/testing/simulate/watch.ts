/**
 * Looks at the store after every call that may have changed it, before anything else happens: at the runs it touched, by
 * the rules of `verify`, against the look before, and against a model of who may write. The first finding ends the world.
 */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, RunId } from "../../model/instance.ts";
import { isTerminal } from "../../model/instance.ts";
import type { Claim, Lease } from "../../model/lease.ts";
import type { StepRecord } from "../../model/step.ts";
import type { Page, PageQuery, Renewal, Store, StoreOutcome, StoreRequest } from "../../store/store.ts";
import { checkRun } from "../../verify/check-run.ts";
import { checkSuccession } from "../../verify/check-succession.ts";
import type { RunFacts } from "../../verify/run-facts.ts";
import type { Explanation, Violation } from "../../verify/violation.ts";
import type { StoreCall } from "../intercept-store.ts";
import { Broken, type Finding } from "./finding.ts";
import type { Member } from "./fleet.ts";
import { Leases } from "./leases.ts";
import { refill } from "./refill.ts";
import type { Sightings } from "./sightings.ts";

export interface WatchParts {
  /** A handle of its own, which no fault reaches. */
  readonly store: Store;
  /** The true time, or later by as much as a process may be wrong about it. */
  readonly now: () => number;
  readonly sightings: Sightings;
  /** What happened in this world that records do not show. */
  readonly explanations: ReadonlySet<Explanation>;
}

/** What a call may have touched. */
type Touched = Map<string, InstanceRef>;

export class Watch {
  readonly leases: Leases = new Leases();
  /** The last look at every run, by workflow/instance/run. */
  readonly facts: Map<string, RunFacts> = new Map();
  /** When each pause was first seen, by the run: what asked for it may have been on its way for long. */
  readonly pausedSince: Map<string, number> = new Map();
  /** Events somebody was told are accepted, by the run that took them. */
  readonly accepted: Map<RunId, Set<string>> = new Map();
  readonly #parts: WatchParts;
  readonly #refs = new Map<RunId, InstanceRef>();
  readonly #created = new Set<string>();

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** What is known of the store goes back with it. */
  mark(): () => void {
    const leases = this.leases.mark();
    const facts = new Map(this.facts);
    const accepted = [...this.accepted].map(([runId, ids]) => [runId, [...ids]] as const);
    const refs = new Map(this.#refs);
    const created = [...this.#created];
    return () => {
      leases();
      refill(this.facts, facts);
      refill(
        this.accepted,
        accepted.map(([runId, ids]) => [runId, new Set(ids)] as const),
      );
      refill(this.#refs, refs);
      this.#created.clear();
      for (const name of created) this.#created.add(name);
    };
  }

  async applied(member: Member, call: StoreCall, answer: unknown): Promise<void> {
    const touched = this.#touchedBy(call, answer);
    if (!touched) return;
    this.#see(call, answer);
    report(this.leases.applied(member, call, answer));
    for (const ref of touched.values()) await this.#look(ref);
  }

  /** The last look at every run there ever was, the current ones looked at again. */
  async lookAtAll(): Promise<readonly RunFacts[]> {
    for (const ref of new Map([...this.#refs.values()].map((ref) => [instanceName(ref), ref])).values())
      await this.#look(ref);
    return [...this.facts.values()];
  }

  async #look(ref: InstanceRef): Promise<void> {
    const { store } = this.#parts;
    const current = await store.getInstance(ref);
    if (!current) return;
    const before = this.facts.get(runName(current));
    // A restart: the run before it ended with it.
    const earlier =
      current.runNumber > 1 && !before ? await store.getInstance(ref, current.runNumber - 1) : null;
    if (earlier) await this.#judge(earlier, false);
    await this.#judge(current, true);
  }

  async #judge(record: InstanceRecord, isCurrent: boolean): Promise<void> {
    const { store, now } = this.#parts;
    const name = runName(record);
    const { runId } = record;
    if (!this.#refs.has(runId)) this.#refs.set(runId, refOf(record));
    const steps = await everything<StepRecord>((query) => store.listSteps(runId, query));
    const events = await everything<EventRecord>((query) => store.listEvents(runId, query));
    const facts: RunFacts = { record, isCurrent, steps, events };
    const before = this.facts.get(name);
    this.facts.set(name, facts);
    if (record.pausedAt !== (before?.record.pausedAt ?? null)) this.pausedSince.set(name, now());
    this.leases.moved(runId, record.token);
    if (record.status !== before?.record.status) this.#parts.sightings.saw(`status: ${record.status}`);
    if (!Number.isInteger(record.dueAt ?? 0))
      report([{ invariant: "INV-31", message: `${name} is due at ${record.dueAt}, no whole millisecond` }]);
    this.#report(checkRun(facts, now()));
    if (before) this.#report(checkSuccession(before, facts));
    for (const step of steps)
      if (step.status === "errored" && step.error.code)
        this.#parts.sightings.saw(`failed: ${step.error.code}`);
    if (isTerminal(record.status) && record.error?.code)
      this.#parts.sightings.saw(`ended: ${record.error.code}`);
  }

  #report(violations: readonly Violation[]): void {
    const { explanations } = this.#parts;
    report(
      violations
        .filter(({ unless }) => unless === undefined || !explanations.has(unless))
        .map(({ invariant, message, workflowName, instanceId, runNumber }) => ({
          invariant,
          message: `${workflowName}/${instanceId}/${runNumber}: ${message}`,
        })),
    );
  }

  // ---------------------------------------------------------------------------------------------- what a call touched

  #touchedBy(call: StoreCall, answer: unknown): Touched | null {
    const touched: Touched = new Map();
    const add = (ref: InstanceRef | undefined): void => {
      if (ref) touched.set(instanceName(ref), ref);
    };
    const addRun = (runId: RunId): void => add(this.#refs.get(runId));
    switch (call.method) {
      case "write":
        for (const [at, request] of call.requests.entries())
          this.#addWritten(request, (answer as readonly StoreOutcome[])[at], add, addRun);
        return touched;
      case "claim":
        for (const claim of answer as readonly Claim[]) add(refOf(claim));
        return touched;
      case "renew":
        for (const { lease } of call.args[0] as readonly Renewal[]) addRun(lease.runId);
        return touched;
      case "release":
        for (const { runId } of call.args[0] as readonly Lease[]) addRun(runId);
        return touched;
      default:
        return null;
    }
  }

  #addWritten(
    request: StoreRequest,
    outcome: StoreOutcome | undefined,
    add: (ref: InstanceRef) => void,
    addRun: (runId: RunId) => void,
  ): void {
    switch (request.kind) {
      case "commit":
        addRun(request.lease.runId);
        for (const other of request.alongside) add(refOf(other));
        if (request.announce) add(refOf(request.announce));
        return;
      case "wake":
        return addRun(request.runId);
      case "publish":
        if (outcome?.kind === "published") for (const runId of outcome.runIds) addRun(runId);
        return;
      case "abandon":
        for (const ref of this.#refs.values()) add(ref);
        return;
      default:
        if (request.kind === "change" && request.announce) add(refOf(request.announce));
        return add(refOf(request));
    }
  }

  /** Keeps what later looks are held to. */
  #see({ method, requests }: StoreCall, answer: unknown): void {
    const { sightings } = this.#parts;
    if (method === "claim") {
      for (const { crashCount } of answer as readonly Claim[])
        sightings.saw(crashCount > 0 ? "claimed after a crash" : "claimed");
      return;
    }
    if (method !== "write") return;
    for (const [at, request] of requests.entries()) {
      const outcome = (answer as readonly StoreOutcome[])[at];
      if (!outcome) continue;
      sightings.saw(`${request.kind}: ${outcome.kind}`);
      if (outcome.kind === "committed" && outcome.dueNow) sightings.saw("suspended into an event");
      if (outcome.kind === "committed" && outcome.timeoutsRefused) sightings.saw("timeout refused");
      if (request.kind === "create" && outcome.kind === "created") this.#wasCreated(request);
      if (request.kind === "sendEvent" && outcome.kind === "accepted") {
        const ids = this.accepted.get(outcome.runId) ?? new Set<string>();
        if (outcome.duplicate) sightings.saw("event sent again");
        if (!request.system) this.accepted.set(outcome.runId, ids.add(request.id));
      }
    }
  }

  #wasCreated(ref: InstanceRef): void {
    const name = instanceName(ref);
    if (this.#created.has(name)) report([{ invariant: "INV-36", message: `${name} was created twice` }]);
    this.#created.add(name);
  }
}

function instanceName({ workflowName, instanceId }: InstanceRef): string {
  return `${workflowName}/${instanceId}`;
}

export function runName({
  workflowName,
  instanceId,
  runNumber,
}: InstanceRef & { readonly runNumber: number }): string {
  return `${workflowName}/${instanceId}/${runNumber}`;
}

function report(findings: readonly Finding[]): void {
  const [first] = findings;
  if (first) throw new Broken(first);
}

function refOf({ workflowName, instanceId }: InstanceRef): InstanceRef {
  return { workflowName, instanceId };
}

async function everything<Item>(read: (query: PageQuery) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page = await read({ limit: 100, ...(after === undefined ? {} : { after }) });
    items.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return items;
}
