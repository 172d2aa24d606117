import { beatDefaults } from "../model/limits.ts";
import type { RunnerRecord } from "../store/store.ts";
import type { RunnerView } from "../wire/index.ts";
import type { AppParts } from "./app-parts.ts";

/** Those seen last first. The store hears of each now and then; what runs here is known better. */
export async function listRunners(parts: AppParts): Promise<readonly RunnerView[]> {
  const { reads, runner, runtime } = parts;
  await parts.ready();
  const told = await reads.listRunners(beatDefaults.runnersMax);
  const others = told.filter(({ owner }) => !runner.isRunning || owner !== runner.owner);
  const all = runner.isRunning ? [runner.record, ...others] : others;
  return all.map((record) => runnerView(record, runner.owner, runtime.now()));
}

function runnerView(record: RunnerRecord, own: string, now: number): RunnerView {
  const { owner, host, pid, startedAt, seenAt, stoppedAt, concurrency, turns, workflows } = record;
  return {
    id: owner,
    host,
    pid,
    startedAt: new Date(startedAt),
    seenAt: new Date(seenAt),
    stoppedAt: stoppedAt === null ? null : new Date(stoppedAt),
    state: stateOf(record, now),
    isHere: owner === own,
    concurrency,
    turns,
    workflows,
  };
}

function stateOf({ stoppedAt, seenAt }: RunnerRecord, now: number): RunnerView["state"] {
  if (stoppedAt !== null) return "stopped";
  return now - seenAt > beatDefaults.silentMs ? "silent" : "running";
}
