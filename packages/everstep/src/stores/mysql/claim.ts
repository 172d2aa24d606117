/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry; runs that
 * others are about to take are passed over. Two request trips: lock what is due, then take it and commit. While nothing is
 * due it is one, which locks nothing.
 *
 * Of a workflow with a limit one claims at a time. Nobody waits for another's claim, which may have stopped half-way and be
 * in the way of every workflow then: that workflow is left out, and asked for again soon if there was nothing else.
 */
import type { ClaimRequest } from "../../store/store.ts";
import type { SqlRow } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Database, Transaction } from "../sql/session.ts";
import { type Candidate, choose, readCandidates, roomsOf } from "./claim-choice.ts";
import { claimStatements, withLimit } from "./claim-statements.ts";

export interface Claims {
  claim(database: Database, request: ClaimRequest): Promise<readonly SqlRow[]>;
  /** Something is due: the next claim need not look before it locks. */
  expectWork(): void;
}

interface Taken {
  readonly rows: readonly SqlRow[];
  /** Workflows with a limit that have room and due runs, and whose turn to claim somebody else has. */
  readonly leftOut: readonly string[];
  /** Of these, those that have no row yet to lock; nothing is taken before they have. */
  readonly unknown: readonly string[];
}

const nothing: readonly SqlRow[] = [];

/** A claim takes a few milliseconds, unless its process has stopped. */
const attemptsMax = 24;
const pauseMsMax = 8;

export function claims(names: TableNames): Claims {
  const statements = claimStatements(names);
  // Who found something the last time will probably find more.
  let expectsWork = false;

  const isAnyDue = async (database: Database, request: ClaimRequest): Promise<boolean> => {
    const [due, held] = await database.run([statements.due(request), ...statements.held(request)]);
    const rooms = roomsOf(request, held?.rows ?? []);
    return (due?.rows ?? []).some(({ workflow }) => (rooms.get(String(workflow)) ?? 0) > 0);
  };

  const lockAndChoose = async (
    tx: Transaction,
    request: ClaimRequest,
  ): Promise<Omit<Taken, "rows"> & { readonly chosen: readonly Candidate[] }> => {
    const limited = withLimit(request);
    const caps = statements.caps(request);
    const held = statements.held(request);
    const results = await tx.run([...caps, ...held, ...statements.stretches(request)]);
    const isThere = (at: number): boolean => (results[at]?.rows.length ?? 0) > 0;
    const others = limited.filter((_name, n) => !isThere(2 * n + 1));
    const rooms = roomsOf(request, held.length === 0 ? [] : (results[caps.length]?.rows ?? []));
    const found = results.slice(caps.length + held.length).flatMap(({ rows }) => readCandidates(rows));
    const due = new Set(found.map(({ workflow }) => workflow));
    const leftOut = others.filter((name) => due.has(name) && (rooms.get(name) ?? 0) > 0);
    for (const name of others) rooms.set(name, 0);
    const unknown = leftOut.filter((name) => !isThere(2 * limited.indexOf(name)));
    return { leftOut, unknown, chosen: choose(request, rooms, found) };
  };

  const take = (database: Database, request: ClaimRequest): Promise<Taken> =>
    database.transact(async (tx) => {
      const { chosen, ...left } = await lockAndChoose(tx, request);
      if (chosen.length === 0 || left.unknown.length > 0) return { rows: nothing, ...left };
      const workflows = new Set(chosen.map(({ workflow }) => workflow));
      const caps = withLimit(request).filter((name) => workflows.has(name));
      const [instances] = await tx.commit([
        statements.instances(chosen),
        ...statements.countCaps(caps),
        statements.take(request, chosen),
      ]);
      const byId = new Map(instances?.rows.map((row) => [row.id, row]));
      const rows = chosen.map(({ row }) => ({
        ...row,
        ...(byId.get(row.instance) ?? statements.noInstance),
      }));
      return { rows, ...left };
    });

  /** Who gets nothing because others claim just now asks again. */
  const takePatiently = async (database: Database, request: ClaimRequest): Promise<readonly SqlRow[]> => {
    for (let attempt = 1; ; attempt += 1) {
      const { rows, leftOut, unknown } = await take(database, request);
      if (unknown.length > 0) await database.run(statements.addCaps(unknown));
      if (rows.length > 0 || leftOut.length === 0 || attempt === attemptsMax) return rows;
      if (unknown.length === 0) await database.run([statements.pause(pauseMsMax)]);
    }
  };

  return {
    async claim(database, request) {
      if (request.workflows.length === 0 || request.limit <= 0) return nothing;
      const looksFirst = !expectsWork;
      expectsWork = false;
      if (looksFirst && !(await isAnyDue(database, request))) return nothing;
      const claimed = await takePatiently(database, request);
      if (claimed.length > 0) expectsWork = true;
      return claimed;
    },

    expectWork() {
      expectsWork = true;
    },
  };
}
