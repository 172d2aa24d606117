/** The evidence of a run, gathered and judged. */
import { auditChains } from "./audit/chains.ts";
import { auditLimits } from "./audit/limits.ts";
import { auditNodes } from "./audit/nodes.ts";
import { auditOutcomes } from "./audit/outcomes.ts";
import { auditOverlaps } from "./audit/overlaps.ts";
import { auditProcesses } from "./audit/processes.ts";
import { auditReceipts } from "./audit/receipts.ts";
import { auditRecords } from "./audit/records.ts";
import { auditRest } from "./audit/rest.ts";
import { auditSteering } from "./audit/steering.ts";
import { type Evidence, readInstances } from "./evidence.ts";
import { readLastBeats } from "./heartbeat.ts";
import { readLedger } from "./ledger.ts";
import { doubtful } from "./losses.ts";
import { leaseMs, type Stage } from "./stage.ts";

/** Promises that were broken, by what they are about; empty lists if none was. */
export type Verdict = Readonly<Record<string, readonly string[]>>;

export async function gatherEvidence({ observer, fleet, receipts, site }: Stage): Promise<Evidence> {
  const ledger = readLedger(fleet.folder);
  const lastBeats = readLastBeats(fleet.folder);
  const processes = fleet.runners.map(({ pid, fate, endedAt, freezes, lastWords }) => {
    return { pid, fate, endedAt, freezes, lastWords, lastBeatAt: lastBeats.get(pid) ?? endedAt };
  });
  const { losses } = site;
  const instances = await readInstances(observer);
  return { ...instances, ledger, processes, receipts: doubtful(receipts, losses), losses, leaseMs };
}

export async function judge(evidence: Evidence, { observer, site }: Stage): Promise<Verdict> {
  return {
    outcomes: auditOutcomes(evidence),
    receipts: auditReceipts(evidence),
    chains: auditChains(evidence),
    overlaps: auditOverlaps(evidence),
    limits: auditLimits(evidence),
    steering: auditSteering(evidence),
    rest: await auditRest(observer, evidence),
    processes: auditProcesses(evidence),
    records: await auditRecords(observer),
    nodes: await auditNodes(site, evidence),
  };
}
