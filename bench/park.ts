/** Fills a store with instances that sleep or wait for long, through the store's own `write` in large batches. */
import {
  type CommitRequest,
  type CreateRequest,
  inputNotGiven,
  type Lease,
  type StepRecord,
  type Store,
} from "everstep/store";
import { forEachOf } from "./engine.ts";

const batchSize = 500;
const batchesAtOnce = 4;
const yearMs = 365 * 86_400_000;
const owner = "bench-park";

export interface Parking {
  readonly workflowName: string;
  /** Numbers of the instances: from the first up to, but without, the last. */
  readonly from: number;
  readonly to: number;
  /** When an instance wakes, if all of them sleep; otherwise every second one waits for an event, and all for a year. */
  readonly wakeAt?: (n: number) => number;
  readonly onProgress: (parked: number) => void;
}

export async function park(store: Store, parking: Parking): Promise<void> {
  const { workflowName, from, to, onProgress } = parking;
  let parked = from;
  await forEachOf(Math.ceil((to - from) / batchSize), batchesAtOnce, async (batch) => {
    const first = from + batch * batchSize;
    const count = Math.min(batchSize, to - first);
    const now = Date.now();
    const creates = Array.from({ length: count }, (_, n) => create(workflowName, first + n, now));
    const created = await store.write(creates, now);
    const commits = created.map((outcome, n) => {
      if (outcome.kind === "created" && outcome.claim)
        return suspend(outcome.claim.lease, waitOf(parking, first + n, now));
      throw new Error(`An instance could not be parked: ${outcome.kind}.`);
    });
    for (const outcome of await store.write(commits, now)) {
      if (outcome.kind !== "committed") throw new Error(`An instance could not be parked: ${outcome.kind}.`);
    }
    parked += count;
    onProgress(parked);
  });
}

export function parkedId(n: number): string {
  return `parked-${n}`;
}

function create(workflowName: string, n: number, now: number): CreateRequest {
  return {
    ...inputNotGiven,
    kind: "create",
    workflowName,
    instanceId: parkedId(n),
    params: { json: "{}", marks: null },
    createdAt: now,
    dueAt: now,
    history: [],
    lease: { owner, token: 1 + n, until: now + 60_000 },
  };
}

type Waiting = Extract<StepRecord, { readonly status: "waiting" }>;

function waitOf({ wakeAt }: Parking, n: number, now: number): Waiting {
  if (wakeAt) return sleeping(wakeAt(n), now);
  // Not all at the same time, as in real life.
  return n % 2 === 0 ? sleeping(now + yearMs + n, now) : waiting(now + yearMs + n, now);
}

function suspend(lease: Lease, wait: Waiting): CommitRequest {
  return {
    kind: "commit",
    lease,
    boundary: {
      number: 1,
      steps: [wait],
      timeouts: [],
      consumed: [],
      eventSeqSeen: 0,
      logs: [],
      begun: [],
      next: { kind: "suspend", dueAt: wait.wakeAt, task: "wake" },
    },
    alongside: [],
    mutations: null,
    leaseUntil: 0,
  };
}

function sleeping(wakeAt: number, now: number): Waiting {
  return { ...wait("rest", wakeAt, now), type: "sleep", waitsFor: "timer", eventType: null };
}

function waiting(wakeAt: number, now: number): Waiting {
  return { ...wait("go", wakeAt, now), type: "waitForEvent", waitsFor: "event", eventType: "go" };
}

function wait(name: string, wakeAt: number, createdAt: number) {
  return {
    index: 0,
    key: name,
    name,
    count: 1,
    parentKey: null,
    depth: 0,
    createdAt,
    attempts: 0,
    starts: 0,
    maxAttempts: 1,
    timeoutMs: null,
    errors: [],
    topic: null,
    wakeAt,
    status: "waiting",
  } as const;
}
