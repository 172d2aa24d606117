/**
 * Reads what a batch needs, in one round trip. The first statement locks the rows of all runs concerned, in the order of
 * their ids, so that two writers never wait for each other in a circle. The others come behind it and so see what is
 * true under the lock.
 */

import type { Needs } from "../../../store/apply/needs.ts";
import type { WorkingSet } from "../../../store/apply/working-set.ts";
import type { Dialect } from "../dialect.ts";
import type { SqlRow } from "../rows/row.ts";
import type { SqlResult, Statement } from "../session.ts";
import { lookAgain } from "../write/look-again.ts";
import { readChanges, readPublications } from "./load-answers.ts";
import { readEventIds, readEvents, readHeardEvents } from "./load-events.ts";
import { glimpseRuns, lockRuns, readExisting } from "./load-runs.ts";
import { readSteps } from "./load-waits.ts";

export interface Loading {
  readonly statements: readonly Statement[];
  /** Throws when what was read does not fit together, because something moved while it waited for a lock. */
  fill(set: WorkingSet, results: readonly SqlResult[]): void;
}

export type Load = (needs: Needs) => Loading;

export interface Read {
  readonly statement: Statement;
  readonly take: (set: WorkingSet, rows: readonly SqlRow[]) => void;
}

export function loads(dialect: Dialect): Load {
  return reading([
    lockRuns(dialect),
    readExisting(dialect),
    readSteps(dialect),
    readEvents(dialect),
    readHeardEvents(dialect),
    readEventIds(dialect),
    readPublications(dialect),
    readChanges(dialect),
  ]);
}

/** Only the runs' own rows and what commits build on, and nobody who writes to them has to wait. What it sees may be over a moment later. */
export function glimpses(dialect: Dialect): Load {
  return reading([glimpseRuns(dialect), readHeardEvents(dialect)]);
}

function reading(readers: readonly Reader[]): Load {
  return (needs) => {
    const reads = readers.flatMap((reader) => reader(needs) ?? []);
    return {
      statements: reads.map(({ statement }) => statement),
      fill(set, results) {
        for (const [n, { take }] of reads.entries()) take(set, results[n]?.rows ?? []);
        refuseHalfSeen(set, needs);
      },
    };
  };
}

/** An instance that was created between two of the reads would be there for one request and not for the next. */
function refuseHalfSeen(set: WorkingSet, { names }: Needs): void {
  for (const [key, ref] of names) {
    if (set.existing.has(key) && set.find(ref) === undefined) throw lookAgain();
  }
}

/** Undefined when there is nothing to read. */
export type Reader = (needs: Needs) => Read | undefined;
