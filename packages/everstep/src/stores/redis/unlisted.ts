/** Runs that no claim finds, because part of a write is missing: counted, listed and put back into their lists. */
import type { InstanceRecord } from "../../model/instance.ts";
import type { Page, PageQuery, StoreWarning } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { readInstance } from "./instance-record.ts";
import { list, text } from "./reply.ts";
import { listUnlistedScript, relistScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";

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
