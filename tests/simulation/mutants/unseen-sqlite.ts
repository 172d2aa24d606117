/** Mistakes in the SQLite store's own code. Worlds run on it too, but slowly; its contract notices these at once. */
import type { Unseen } from "./mutant.ts";

const because = "Worlds on files are slow, and it takes more of them than anybody waits for.";
const noticedBy = "stores/sqlite/sqlite-store.test.ts";

export const unseenOnSqlite: readonly Unseen[] = [
  {
    name: "SQLite applies a commit that builds on a lost event",
    guards: ["INV-24"],
    file: "store/apply/apply-commit.ts",
    find: 'if (heardOfLost(boundary, (seq) => run.idOfEvent(seq))) return { kind: "superseded" };',
    replace: "void heardOfLost;",
    because,
    noticedBy,
  },
  {
    name: "SQLite applies a quick commit that builds on a lost event",
    guards: ["INV-24"],
    file: "stores/sqlite/write.ts",
    find: "boundary.heard !== undefined && heardOfLost(boundary, (seq) => idOfEvent(run, seq))",
    replace:
      "boundary.heard !== undefined && heardOfLost(boundary, (seq) => idOfEvent(run, seq)) === undefined",
    because,
    noticedBy,
  },
  {
    name: "SQLite does not ask a commit for its token",
    guards: ["INV-2"],
    file: "store/apply/apply-commit.ts",
    find: 'if (run === undefined || run.row.token !== lease.token) return { kind: "superseded" };',
    replace: 'if (run === undefined) return { kind: "superseded" };',
    because,
    noticedBy,
  },
  {
    name: "SQLite does not ask a quick commit for its token",
    guards: ["INV-2"],
    file: "stores/sqlite/write.ts",
    find: "const fence = `id = ? AND token = ? AND last_commit = ?",
    replace: "const fence = `id = ? AND ? IS NOT NULL AND last_commit = ?",
    because,
    noticedBy,
  },
  {
    name: "SQLite suspends past an event that the turn has not seen",
    guards: ["INV-23"],
    file: "stores/sqlite/write.ts",
    find: "AND status = 'active' AND event_seq = ?`;",
    replace: "AND status = 'active' AND event_seq >= ?`;",
    because,
    noticedBy,
  },
  {
    name: "SQLite renews and releases whatever the token",
    guards: ["INV-2", "INV-4"],
    edits: [
      {
        file: "stores/sqlite/claim.ts",
        find: "renewed(row, renewal, until);",
        replace: "renewed(row && { ...row, token: renewal.lease.token }, renewal, until);",
      },
      {
        file: "stores/sqlite/claim.ts",
        find: "released(find(run), lease, now)",
        replace: "released({ ...(find(run) as HeldRow), token: lease.token }, lease, now)",
      },
    ],
    because,
    noticedBy,
  },
  {
    name: "SQLite hands out runs a second before they are due",
    guards: ["INV-28", "INV-1"],
    file: "stores/sqlite/claim.ts",
    find: "WHERE workflow = ? AND lane = ? AND due_at <= ? ORDER BY",
    replace: "WHERE workflow = ? AND lane = ? AND due_at <= ? + 1000 ORDER BY",
    because,
    noticedBy,
  },
  {
    name: "SQLite wakes nobody with an event",
    guards: ["INV-23"],
    file: "stores/sqlite/write.ts",
    find: "const woke = canBeWoken({ lane, status, crashCount }) && isAwaited(run, request);",
    replace: "const woke = false;",
    because,
    noticedBy,
  },
];
