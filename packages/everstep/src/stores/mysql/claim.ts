/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry; runs that
 * others are about to take are passed over. Two request trips: lock what is due, then take it and commit. While nothing is
 * due it is one, which locks nothing.
 */
import type { ClaimRequest } from "../../store/store.ts";
import type { SqlRow } from "../sql/row.ts";
import type { Database, Transaction } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { type Candidate, choose, readCandidates, roomsOf } from "./claim-choice.ts";
import { claimStatements } from "./claim-statements.ts";

export interface Claims {
  claim(database: Database, request: ClaimRequest): Promise<readonly SqlRow[]>;
  /** Something is due: the next claim need not look before it locks. */
  expectWork(): void;
}

const nothing: readonly SqlRow[] = [];

export function claims(names: TableNames): Claims {
  const statements = claimStatements(names);
  // Who found something the last time will probably find more.
  let expectsWork = false;

  const isAnyDue = async (database: Database, request: ClaimRequest): Promise<boolean> => {
    const [due, held] = await database.run([statements.due(request), ...statements.held(request)]);
    const rooms = roomsOf(request, held?.rows ?? []);
    return (due?.rows ?? []).some(({ workflow }) => (rooms.get(String(workflow)) ?? 0) > 0);
  };

  const lockAndChoose = async (tx: Transaction, request: ClaimRequest): Promise<readonly Candidate[]> => {
    const caps = statements.capLocks(request);
    const held = statements.held(request);
    const results = await tx.run([...caps, ...held, ...statements.stretches(request)]);
    const rooms = roomsOf(request, held.length === 0 ? [] : (results[caps.length]?.rows ?? []));
    const stretches = results.slice(caps.length + held.length);
    const found = stretches.flatMap(({ rows }) => readCandidates(rows));
    return choose(request, rooms, found);
  };

  const take = (database: Database, request: ClaimRequest): Promise<readonly SqlRow[]> =>
    database.transact(async (tx) => {
      const taken = await lockAndChoose(tx, request);
      if (taken.length === 0) return nothing;
      const [instances] = await tx.commit([statements.instances(taken), statements.take(request, taken)]);
      const byId = new Map(instances?.rows.map((row) => [row.id, row]));
      return taken.map(({ row }) => ({ ...row, ...(byId.get(row.instance) ?? statements.noInstance) }));
    });

  return {
    async claim(database, request) {
      if (request.workflows.length === 0 || request.limit <= 0) return nothing;
      const looksFirst = !expectsWork;
      expectsWork = false;
      if (looksFirst && !(await isAnyDue(database, request))) return nothing;
      const claimed = await take(database, request);
      if (claimed !== nothing) expectsWork = true;
      return claimed;
    },

    expectWork() {
      expectsWork = true;
    },
  };
}
