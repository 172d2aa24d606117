/** Leases that are kept alive or given back, many at once. Only the token decides whether a lease is still held. */
import { StoreError } from "../../../model/error.ts";
import type { Lease, ReturnedLease } from "../../../model/lease.ts";
import { lanes } from "../../../store/apply/lane.ts";
import { runKey } from "../../../store/apply/run-key.ts";
import type { RenewAnswer, Renewal } from "../../../store/store.ts";
import { byKey, type Dialect, selectInOrder } from "../dialect.ts";
import { begunText } from "../rows/json-column.ts";
import { integer, type SqlRow, text } from "../rows/row.ts";
import type { Database, SqlResult, Statement } from "../session.ts";
import { repeatedly } from "../write/look-again.ts";

export interface Leases {
  renew(renewals: readonly Renewal[], until: number, signal?: AbortSignal): Promise<readonly RenewAnswer[]>;
  release(leases: readonly ReturnedLease[], now: number): Promise<void>;
}

export function leases(database: Database, dialect: Dialect): Leases {
  const held = `r.token = v.token AND r.lane IN (${lanes.held}, ${lanes.heldPaused})`;
  const given = dialect.parameters("v", ["run", "token"]);
  const isHeld = `t.lane IN (${lanes.held}, ${lanes.heldPaused})`;
  // What has lost commits that its holder was told of is left as it is.
  const knowsAll = `${isHeld} AND t.last_commit >= v.last_commit`;
  const keep = dialect.update("run", ["id", "token"], ["begun"], knowsAll, ["last_commit"]);
  const keepSince = dialect.update("run", ["id", "token", "last_commit"], ["begun"], isHeld);
  const extend = dialect.update("run", ["id", "token"], ["due_at"], `${knowsAll} AND t.due_at < v.due_at`, [
    "last_commit",
  ]);
  const release = dialect.update(
    "run",
    ["id", "token"],
    ["lane", "kind", "due_at", "updated_at"],
    `t.lane = ${lanes.held}`,
  );
  const releasePaused = dialect.update("run", ["id", "token"], ["lane"], `t.lane = ${lanes.heldPaused}`);

  // In the order of ids, so that two of these never wait for each other in a circle.
  const read = (keys: readonly (readonly number[])[], locking: string): Statement => {
    const { sql, values } = given(keys.toSorted(([a = 0], [b = 0]) => a - b));
    return {
      sql:
        `${selectInOrder(dialect)} r.id AS run, r.token, r.event_seq, r.status, r.last_commit FROM ${sql} JOIN ${byKey(dialect, dialect.names.run, "r")} ` +
        `ON r.id = v.run AND ${held} ORDER BY r.id ${locking}`,
      values,
    };
  };
  const lock = (keys: readonly (readonly number[])[]): Statement => read(keys, dialect.lock("r"));

  const extension = (renewals: readonly Renewal[], until: number): readonly Statement[] => {
    const always = renewals.filter(({ commit }) => commit === undefined);
    const since = renewals.filter(({ commit }) => commit !== undefined);
    return [
      ...(always.length === 0
        ? []
        : [
            keep(always.map(({ lease, begun, applied = 0 }) => [...keyOf(lease), begunText(begun), applied])),
          ]),
      ...(since.length === 0
        ? []
        : [
            keepSince(
              since.map(({ lease, begun, commit }) => [...keyOf(lease), commit ?? 0, begunText(begun)]),
            ),
          ]),
      extend(renewals.map(({ lease, applied = 0 }) => [...keyOf(lease), until, applied])),
    ];
  };

  /** One that is locked, perhaps by a connection that has died in a transaction, does not keep the others waiting. */
  const renewUnlocked = (renewals: readonly Renewal[], until: number, signal?: AbortSignal) =>
    database.transact(
      async (tx) => {
        const keys = renewals.map(({ lease }) => keyOf(lease));
        const results = await tx.run([read(keys, dialect.lock("r", "skip")), read(keys, "")]);
        const [unlocked, all] = results.map(byLease) as [Rows, Rows];
        const free = renewals.filter(({ lease }) => unlocked.has(nameOf(lease)));
        if (free.length > 0) await tx.commit(extension(free, until));
        return renewals.map(({ lease, applied }): RenewAnswer => {
          const row = unlocked.get(nameOf(lease));
          return row === undefined && all.has(nameOf(lease)) ? { kind: "busy" } : answer(row, applied);
        });
      },
      "renewal",
      signal,
    );

  return {
    async renew(renewals, until, signal) {
      if (renewals.length === 0) return [];
      const statements = [lock(renewals.map(({ lease }) => keyOf(lease))), ...extension(renewals, until)];
      try {
        const [locked] = await repeatedly(() =>
          database.transact((tx) => tx.commit(statements), "renewal", signal),
        );
        const rows = byLease(locked);
        return renewals.map(({ lease, applied }) => answer(rows.get(nameOf(lease)), applied));
      } catch (error) {
        if (!hasWaited(error)) throw error;
        return repeatedly(() => renewUnlocked(renewals, until, signal));
      }
    },

    async release(leases, now) {
      if (leases.length === 0) return;
      const keys = leases.map(keyOf);
      const statements = [
        lock(keys),
        release(
          leases.map((lease) => {
            const { retryAt } = lease;
            const kind = retryAt === undefined ? "resume" : "retry";
            return [...keyOf(lease), lanes.resuming, kind, retryAt ?? now, now];
          }),
        ),
        releasePaused(keys.map((key) => [...key, null])),
      ];
      await repeatedly(() => database.transact((tx) => tx.commit(statements), "renewal"));
    },
  };
}

function keyOf({ runId, token }: Lease): readonly [number, number] {
  return [runKey(runId), token];
}

type Rows = ReadonlyMap<string, SqlRow>;

function byLease(result: SqlResult | undefined): Rows {
  return new Map(result?.rows.map((row) => [`${row.run} ${row.token}`, row]));
}

function nameOf(lease: Lease): string {
  return keyOf(lease).join(" ");
}

/** Somebody else held one of the rows for too long. */
function hasWaited(error: unknown): boolean {
  return error instanceof StoreError && error.details?.waited === true;
}

/** A lease is lost with the commits that its holder was told of. */
function answer(row: SqlRow | undefined, applied = 0): RenewAnswer {
  if (row === undefined || integer(row, "last_commit") < applied) return { kind: "lost" };
  return { kind: "renewed", eventSeq: integer(row, "event_seq"), paused: text(row, "status") === "paused" };
}
