/** What a claim takes, asked of the store itself. */
import { type CommitRequest, inputNotGiven, type Lease, type Store } from "everstep/store";

/** Each time one run is due, then none. */
export async function claimEach(
  store: Store,
  workflowName: string,
  prefix: string,
  times: number,
): Promise<{ readonly claims: readonly number[]; readonly looks: readonly number[] }> {
  const claims: number[] = [];
  const looks: number[] = [];
  for (let n = 0; n < times; n++) {
    await createDue(store, workflowName, `${prefix}-${n}`);
    const [ms, found] = await claimOnce(store, workflowName);
    claims.push(ms);
    for (const lease of found) await store.write([complete(lease)], Date.now());
    const [lookMs] = await claimOnce(store, workflowName);
    looks.push(lookMs);
    if (found.length !== 1) throw new Error(`${found.length} runs were claimed where 1 was due.`);
  }
  return { claims, looks };
}

async function createDue(store: Store, workflowName: string, instanceId: string): Promise<void> {
  const now = Date.now();
  const create = {
    ...inputNotGiven,
    kind: "create",
    workflowName,
    instanceId,
    params: { json: "{}", marks: null },
    createdAt: now,
    dueAt: now,
    history: [],
    lease: null,
  } as const;
  await store.write([create], now);
}

/** Each claim has its own. */
let lastToken = 1000;

async function claimOnce(store: Store, workflowName: string): Promise<readonly [number, readonly Lease[]]> {
  const now = Date.now();
  const start = performance.now();
  const claims = await store.claim({
    owner: "bench",
    token: ++lastToken,
    workflows: [{ name: workflowName, concurrency: null }],
    limit: 16,
    now,
    leaseUntil: now + 30_000,
  });
  return [performance.now() - start, claims.map(({ lease }) => lease)];
}

function complete(lease: Lease): CommitRequest {
  return {
    kind: "commit",
    lease,
    boundary: {
      number: 1,
      steps: [],
      timeouts: [],
      consumed: [],
      eventSeqSeen: 0,
      logs: [],
      begun: [],
      next: { kind: "complete", output: { json: "1", marks: null } },
    },
    alongside: [],
    mutations: null,
    leaseUntil: 0,
  };
}
