/** How a run ends: the hot row wants no turn any more, and what it ended with is kept apart from it. */
import type { InstanceStatus, TerminationReason } from "../../model/instance.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { Connection } from "./connection.ts";
import type { HotRow } from "./hot-row.ts";
import type { Steps } from "./steps.ts";

export type Ending =
  | { readonly kind: "complete"; readonly output: EncodedValue }
  | { readonly kind: "error"; readonly error: StoredError; readonly deadLetter: boolean }
  | { readonly kind: "terminate"; readonly reason: TerminationReason };

export interface Endings {
  /** By its own last commit: the token stays, so that the commit may be repeated. */
  finish(row: HotRow, ending: Ending, commit: LastCommit, now: number): void;
  /** From outside: the token moves. */
  end(row: HotRow, ending: Ending, now: number): void;
  /** What the run has ended with; the hot row says already that it has. */
  keep(run: number, ending: Ending, now: number): void;
}

export interface LastCommit {
  readonly number: number;
  readonly logSeq: number;
  readonly begun: string | null;
  /** What the count of crashes is multiplied with. */
  readonly crashes: number;
}

export const statusOf: Record<Ending["kind"], InstanceStatus> = {
  complete: "complete",
  error: "errored",
  terminate: "terminated",
};

export function endings({ db, names }: Connection, steps: Steps): Endings {
  const ended = `status = ?, dead_letter = ?, lane = NULL, waiting_since = NULL, paused_at = NULL, updated_at = ?,
     prune_at = ? + (SELECT retention_ms FROM ${names.instance} WHERE id = instance)`;
  const finish = db.prepare(
    `UPDATE ${names.run} SET ${ended}, last_commit = ?, log_seq = ?, begun = ?, crash_count = crash_count * ?,
     recorded = 1 WHERE id = ?`,
  );
  const end = db.prepare(`UPDATE ${names.run} SET ${ended}, last_commit = 0, token = token + 1 WHERE id = ?`);
  const insert = db.prepare(
    `INSERT INTO ${names.ending} (run, completed_at, output, output_marks, error, reason) VALUES (?, ?, ?, ?, ?, ?)`,
  );

  const keep = (run: number, ending: Ending, now: number): void => {
    const output = ending.kind === "complete" ? ending.output : null;
    insert.run(
      run,
      now,
      output === null ? null : output.json,
      output === null ? null : output.marks,
      ending.kind === "error" ? JSON.stringify(ending.error) : null,
      ending.kind === "terminate" ? JSON.stringify(ending.reason) : null,
    );
    steps.close(run);
  };

  return {
    keep,
    finish(row, ending, { number, logSeq, begun, crashes }, now) {
      const status = statusOf[ending.kind];
      finish.run(status, isDeadLetter(ending), now, now, number, logSeq, begun, crashes, row.run);
      keep(row.run, ending, now);
    },
    end(row, ending, now) {
      end.run(statusOf[ending.kind], isDeadLetter(ending), now, now, row.run);
      keep(row.run, ending, now);
    },
  };
}

export function isDeadLetter(ending: Ending): number {
  return ending.kind === "error" && ending.deadLetter ? 1 : 0;
}
