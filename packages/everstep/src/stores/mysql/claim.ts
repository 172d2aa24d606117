/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry; runs that
 * others are about to take are passed over. Two round trips: lock what is due, then take it and commit. While nothing is
 * due it is one, which locks nothing.
 */
import type { ClaimedRows, ClaimRound } from "../sql/dialect.ts";
import type { Database, Transaction } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { type Choice, choose, readCandidates, roomsOf } from "./claim-choice.ts";
import { claimStatements } from "./claim-statements.ts";

export interface Claims {
  claim(database: Database, round: ClaimRound): Promise<ClaimedRows>;
  /** Something is due: the next claim need not look before it locks. */
  expectWork(): void;
}

const nothing: ClaimedRows = { rows: [], putBack: 0 };

export function claims(names: TableNames): Claims {
  const statements = claimStatements(names);
  // Who found something the last time will probably find more.
  let expectsWork = false;

  const isAnyDue = async (database: Database, round: ClaimRound): Promise<boolean> => {
    const [due, held] = await database.run([statements.due(round), ...statements.held(round)]);
    const rooms = roomsOf(round, held?.rows ?? []);
    return (due?.rows ?? []).some(({ workflow }) => (rooms.get(String(workflow)) ?? 0) > 0);
  };

  const lockAndChoose = async (tx: Transaction, round: ClaimRound): Promise<Choice> => {
    const caps = statements.capLocks(round);
    const held = statements.held(round);
    const results = await tx.run([...caps, ...held, ...statements.stretches(round)]);
    const rooms = roomsOf(round, held.length === 0 ? [] : (results[caps.length]?.rows ?? []));
    const stretches = results.slice(caps.length + held.length);
    const found = stretches.flatMap(({ rows }) => readCandidates(rows, round.limit));
    return choose(round, rooms, found);
  };

  const take = (database: Database, round: ClaimRound): Promise<ClaimedRows> =>
    database.transact(async (tx) => {
      const choice = await lockAndChoose(tx, round);
      const { taken, putBack } = choice;
      if (taken.length === 0 && putBack.length === 0) return nothing;
      const [instances] = await tx.commit([
        ...statements.instances(taken),
        ...statements.moves(round, choice),
      ]);
      const byId = new Map(instances?.rows.map((row) => [row.id, row]));
      const rows = taken.map(({ row }) => ({ ...row, ...(byId.get(row.instance) ?? statements.noInstance) }));
      return { rows, putBack: putBack.length };
    });

  return {
    async claim(database, round) {
      if (round.workflows.length === 0 || round.limit <= 0) return nothing;
      const looksFirst = !expectsWork;
      expectsWork = false;
      if (looksFirst && !(await isAnyDue(database, round))) return nothing;
      const claimed = await take(database, round);
      if (claimed !== nothing) expectsWork = true;
      return claimed;
    },

    expectWork() {
      expectsWork = true;
    },
  };
}
