import type { InstanceRecord, InstanceStatus } from "../../../model/instance.ts";
import { type DeletableInstance, decideDelete, newsOfDelete } from "../../../store/apply/apply-delete.ts";
import type {
  DeleteOutcome,
  DeleteRequest,
  Page,
  PageQuery,
  PruneRequest,
  StoreWarning,
} from "../../../store/store.ts";
import { readInstance } from "../reads/instances.ts";
import {
  deleteScript,
  findDeletableScript,
  forgetPublicationsScript,
  listUnlistedScript,
  pruneScript,
  relistScript,
} from "../scripts/index.ts";
import { Arguments, integer, list, type Reply, text } from "../server/script-values.ts";
import type { Session } from "../server/session.ts";
import { busy } from "./busy.ts";

// Redis does nothing else while a script runs.
const instancesPerScript = 50;
const publicationsPerScript = 1000;

export async function prune(session: Session, request: PruneRequest): Promise<number> {
  const { before, limit, publicationsBefore } = request;
  if (publicationsBefore !== undefined) await forgetPublications(session, publicationsBefore);
  let removed = 0;
  while (removed < limit) {
    const slice = Math.min(instancesPerScript, limit - removed);
    const reply = list(await session.run(pruneScript, [String(before), String(slice)], "writing"));
    const [seen, gone] = reply.map((count) => integer(count)) as [number, number];
    removed += gone;
    if (seen < slice) break;
  }
  return removed;
}

async function forgetPublications(session: Session, before: number): Promise<void> {
  const args = [String(before), String(publicationsPerScript)];
  let forgotten = publicationsPerScript;
  while (forgotten === publicationsPerScript) {
    forgotten = integer(await session.run(forgetPublicationsScript, args, "writing"));
  }
}

/** How often it is decided before it is refused. */
const attempts = 30;

/** Looks, decides, and removes if nothing that was looked at has changed; else it is decided again. */
export async function remove(session: Session, request: DeleteRequest): Promise<DeleteOutcome> {
  const { workflowName, instanceId } = request;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const names = new Arguments().add(workflowName, instanceId).list;
    const found = deletable(list(await session.run(findDeletableScript, names, "reading")));
    const outcome = decideDelete(found, request);
    if (found === undefined || outcome.kind !== "deleted") return outcome;
    const { due, ended } = newsOfDelete(outcome);
    const args = [...names, String(found.run), found.status, due ? "1" : "0", ended ? "1" : "0"];
    const reply = await session.write(deleteScript, args, (removed) => integer(removed) === 1);
    if (integer(reply) === 1) return outcome;
  }
  throw busy(session);
}

function deletable([run, firstRun, runNumber, status]: readonly Reply[]): DeletableInstance | undefined {
  if (run === undefined) return undefined;
  return {
    run: integer(run),
    firstRun: integer(firstRun as Reply),
    runNumber: integer(runNumber as Reply),
    status: text(status as Reply) as InstanceStatus,
  };
}

/** Runs that no claim finds, because part of a write is missing: counted, listed and put back into their lists. */

/** All keys are gone through, because no list leads to these. */
const keysPerScan = 1000;

export async function listUnlisted(session: Session, query: PageQuery): Promise<Page<InstanceRecord>> {
  const items: InstanceRecord[] = [];
  let cursor = query.after ?? "0";
  do {
    const { next, runs } = await scanRuns(session, cursor);
    const args = new Arguments().add(runs.length, ...runs);
    const found = list(await session.run(listUnlistedScript, args.list, "reading"));
    items.push(...found.map((each) => readInstance(list(each))));
    cursor = next;
  } while (cursor !== "0" && items.length < query.limit);
  return cursor === "0" ? { items } : { items, after: cursor };
}

/** Looks after the lists of a store, now and then. */
export class Lists {
  readonly #session: Session;
  /** What the last look could do nothing about. */
  #left = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Puts back what is missing, if the lists say that something is. */
  async mend(now: number): Promise<void> {
    const count = await this.#session.countUnlisted();
    if (count === 0 || count === this.#left) return;
    let cursor = "0";
    do {
      const { next, runs } = await scanRuns(this.#session, cursor);
      const args = new Arguments().add(now, runs.length, ...runs);
      await this.#session.run(relistScript, args.list, "writing");
      cursor = next;
    } while (cursor !== "0");
    this.#left = await this.#session.countUnlisted();
  }
}

export function unlistedWarnings(count: number): readonly StoreWarning[] {
  if (count === 0) return [];
  const runs = count === 1 ? "1 run" : `${count} runs`;
  return [
    {
      code: "RUNS_UNLISTED",
      message:
        `The lists of ${runs} lack an entry, because part of a write is missing; a run in no list of due runs is found by no ` +
        "runner. A runner that is up puts them back within a minute; `verify` names them. Find out what Redis has lost.",
    },
  ];
}

interface Scanned {
  readonly next: string;
  readonly runs: readonly string[];
}

async function scanRuns(session: Session, cursor: string): Promise<Scanned> {
  const prefix = `{${session.settings.namespace}}:run:`;
  const [next, keys] = list(
    await session.command("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", String(keysPerScan)),
  );
  return { next: text(next), runs: list(keys).map((key) => text(key).slice(prefix.length)) };
}
